"""Full training runs of a few minutes, from random weights."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pyengine
from pyengine import train
from pyengine.match import MatchResult, Openings, match
from pyengine.train.loop.state import RunFolder

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
pytest.importorskip("onnx", reason="export needs onnx: the extra train")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the loop is tested on POSIX"),
]

RUN = """
[run]
name = "slow"
seed = 1
steps = {steps}
[game]
name = {games}
planes = {planes}
[network]
kind = "{kind}"
blocks = 2
filters = 24
[selfplay]
preset = "fast"
full_search_fraction = 1.0
opening_random_moves = 4
temperature_moves = 8
resign_threshold = "none"
[search]
simulations = 48
threads = 2
batch_size = 32
in_flight = 1
[train]
batch_size = 128
threads = 1
[train.optimiser]
kind = "adamw"
schedule = "constant"
learning_rate = 2e-3
weight_decay = 1e-3
warm_up = 50
[train.average]
kind = "ema"
decay = 0.98
[window]
minimum_positions = 600
start = 5000
samples_per_position = 16
[gate]
mode = "latest"
every_steps = 50
games = 0
"""

SIMULATIONS = 16  # per move; few, so that the network matters
GAMES = 100


def trained(tmp_path: Path, games: list[str], planes: list[str], kind: str, steps: int) -> Path:
    """Run the loop and return its last network."""
    text = RUN.format(games=games, planes=planes, kind=kind, steps=steps).replace("'", '"')
    report = train.train_run(train.RunFile.from_toml(text), tmp_path)
    assert report.reason == "steps"
    assert report.progress.restarts == 0
    assert report.model is not None
    return report.model


def play_first_network(tmp_path: Path, model: Path, game: str) -> MatchResult:
    """Play the last network against the random initial weights."""
    settings = {"simulations": SIMULATIONS, "threads": 1, "batch_size": 64, "in_flight": 1}
    first = RunFolder(tmp_path).candidate(0)
    with (
        pyengine.Engine(game, pyengine.OnnxEvaluator(model), **settings) as last,
        pyengine.Engine(game, pyengine.OnnxEvaluator(first), **settings) as before,
    ):
        return match(last, before, games=GAMES, seed=1, openings=Openings(plies=3))


def assert_clearly_stronger(result: MatchResult) -> None:
    assert result.score >= 0.65, str(result)
    assert result.score_interval[0] > 0.5, str(result)


def test_connect_four_is_learned_from_random_weights(tmp_path: Path) -> None:
    planes = ["own[0]", "opp[0]", "first_to_move", "ones"]
    model = trained(tmp_path, ["connect_four"], planes, "alphago_zero", steps=1000)
    assert_clearly_stronger(play_first_network(tmp_path, model, "connect_four"))


def test_one_network_learns_gomoku_on_several_boards(tmp_path: Path) -> None:
    games = ["gomoku(board_size=7)", "gomoku(board_size=9)"]
    planes = ["own[0]", "opp[0]", "last[0]", "first_to_move", "ones"]
    model = trained(tmp_path, games, planes, "convolutional", steps=300)
    for game in [*games, "gomoku(board_size=8)"]:  # the last was not trained
        assert_clearly_stronger(play_first_network(tmp_path, model, game))


def test_go_on_7x7_is_learned_from_random_weights(tmp_path: Path) -> None:
    game = "go(board_size=7,komi=9.5)"
    planes = ["own[0]", "opp[0]", "first_to_move", "legal", "liberties[1]", "ones"]
    model = trained(tmp_path, [game], planes, "convolutional", steps=300)
    assert_clearly_stronger(play_first_network(tmp_path, model, game))
