"""Small runs, their games and their parts, for tests of the training loop."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pyengine
from pyengine import train
from pyengine.data import Dataset
from pyengine.data.manifest import read_games
from pyengine.train.loop.child import Child
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best, RunFolder

#: Settings of a short run.
SMALL = """
[run]
seed = 3
[game]
name = "tic_tac_toe"
[network]
blocks = 1
[train]
batch_size = 64
[train.optimiser]
schedule = "constant"
"""

#: The sections of a run that takes seconds.
_QUICK: dict[str, dict[str, Any]] = {
    "run": {},
    "game": {"name": "tic_tac_toe", "planes": ["own[0]", "opp[0]", "ones"]},
    "network": {"kind": "convolutional", "blocks": 1, "filters": 8},
    "selfplay": {
        "full_search_fraction": 1.0,
        "opening_random_moves": 3,
        "concurrent_games": 8,
        "resign_threshold": "none",
    },
    "search": {"simulations": 16, "threads": 1, "batch_size": 8, "in_flight": 1},
    "train": {
        "batch_size": 32,
        "threads": 1,
        "checkpoint_steps": 20,
        "log_steps": 10,
        "optimiser": {"kind": "adamw", "schedule": "constant", "learning_rate": 2e-3},
    },
    "window": {"minimum_positions": 100, "start": 2000, "samples_per_position": 16},
    "gate": {"mode": "latest", "every_steps": 20, "games": 4, "simulations": 4, "plies": 2},
    "distributed": {
        "actors": 2,
        "delivery_seconds": 0.1,
        "shard_positions": 65_536,
        "backlog_megabytes": 0.03,
    },
}


def run_of(**changes: dict[str, Any]) -> train.RunFile:
    """Return a run that takes seconds, with changed settings by section."""
    sections = copy.deepcopy(_QUICK)
    for name, values in changes.items():
        sections[name] |= values
    text = ""
    for name, values in sections.items():
        text += f"[{name}]\n" + "".join(
            f"{key} = {_toml(value)}\n" for key, value in values.items()
        )
    return train.RunFile.from_toml(text)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


#: The best player before there is a network.
UNIFORM = Best(name="uniform", sha256=None, step=0, generation=0, elo=0.0)


def part_in(path: Path) -> Part:
    """Return the self-play part of a run whose best player is the uniform evaluator."""
    folder, run = RunFolder(path / "run"), run_of(selfplay={"first": "uniform"})
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


def play_games(
    folder: RunFolder,
    run: train.RunFile,
    games: int,
    *,
    simulations: int = 4,
    concurrent_games: int = 8,
) -> None:
    """Add self-play of the uniform evaluator to the data of a run's first game."""
    search = pyengine.SearchConfig(simulations=simulations, threads=1)
    pyengine.selfplay(
        run.games[0],
        "uniform",
        games=games,
        out=folder.data(run.game.name[0]),
        config=pyengine.SelfPlayConfig(search=search, concurrent_games=concurrent_games),
        spec=run.spec,
    )


def curve_line(step: int, opponent: int, wins: int, losses: int) -> dict[str, Any]:
    """Return the line of an accepted candidate with one opponent."""
    match = {"step": opponent, "wins": wins, "draws": 0, "losses": losses}
    candidate = {"step": step, "generation": step // 100, "games": 10 * step, "elo": 0.0}
    return {**match, **candidate, "accepted": True, "opponents": [match]}


class Impatient(Part):
    """A part that stops as soon as it has to wait."""

    def wait(self, seconds: float = 0.2) -> None:
        self.stop()


class Ending(Child):
    """A part that runs until it is asked to stop, and then has an exit status."""

    def __init__(self, name: str, status: int) -> None:
        self._end = status
        self._now: int | None = None
        super().__init__(name)

    def _start(self) -> None:
        self._now = None

    def status(self) -> int | None:
        return self._now

    def _tell(self, line: str | None) -> None:
        if self._now is None:
            self._now = self._end

    def last_output(self) -> str:
        return "OSError: [Errno 28] No space left on device"

    def end(self) -> None:
        self._tell(None)
