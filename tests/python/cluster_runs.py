"""A short run for tests of the cluster."""

from __future__ import annotations

from pathlib import Path

from pyengine import train
from pyengine.data import Dataset
from pyengine.data.manifest import read_games
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best, RunFolder

RUN = """
[run]
name = "tiny"
{limits}
[game]
name = "tic_tac_toe"
planes = ["own[0]", "opp[0]", "ones"]
[network]
kind = "convolutional"
blocks = 1
filters = 8
[selfplay]
first = "{first}"
preset = "fast"
full_search_fraction = 1.0
opening_random_moves = 3
concurrent_games = 8
resign_threshold = "none"
[search]
simulations = 16
threads = 1
batch_size = 8
in_flight = 1
[train]
batch_size = 32
threads = 1
checkpoint_steps = 20
log_steps = 10
[train.optimiser]
kind = "adamw"
schedule = "constant"
learning_rate = 2e-3
[window]
minimum_positions = 100
start = 2000
samples_per_position = 16
[gate]
mode = "latest"
every_steps = 20
games = 4
simulations = 4
plies = 2
batch_size = 16
[distributed]
actors = 2
delivery_seconds = 0.1
shard_positions = {shards}
backlog_megabytes = 0.03
"""


def run_of(limits: str = "", *, first: str = "random", shards: int = 65_536) -> train.RunFile:
    """Return a run that takes a few seconds."""
    return train.RunFile.from_toml(text_of(limits, first=first, shards=shards))


def text_of(limits: str = "", *, first: str = "random", shards: int = 65_536) -> str:
    """Return the run file of :func:`run_of`."""
    return RUN.format(limits=limits, first=first, shards=shards)


UNIFORM = Best(name="uniform", sha256=None, step=0, generation=0, elo=0.0)


def part_in(path: Path, run: train.RunFile | None = None) -> Part:
    """Return the self-play part of a run whose best player is the uniform evaluator."""
    folder = RunFolder(path / "run")
    run = run or run_of(first="uniform")
    folder.begin(run)
    folder.set_best(UNIFORM)
    return Part("selfplay", folder, run)


def data_of(part: Part) -> Dataset:
    """Return the verified data of the run."""
    return Dataset(part.folder.data("tic_tac_toe"), verify=True)


def numbers_in(folder: RunFolder) -> list[int]:
    """Return the game numbers in the lists of the shards."""
    lists = sorted(folder.data("tic_tac_toe").glob("*.games.jsonl"))
    return [line.number for path in lists for line in read_games(path)]
