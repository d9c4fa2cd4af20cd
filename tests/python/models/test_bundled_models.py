"""The bundled networks: the manifest is correct, and the networks can play."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import ROOT

MODELS = pyengine.bundled_models()
NAMES = tuple(sorted(MODELS))

GAMES = {"tic_tac_toe": "tic_tac_toe", "connect4": "connect_four", "gomoku": "gomoku(board_size=9)"}

# Network, board, and the only winning move of X, who is to move.
WINS = (
    ("tic_tac_toe", ("OO.", "XX.", "..."), "c2"),
    ("tic_tac_toe", ("X.O", "OX.", "..."), "c3"),
    ("connect4", (".......", ".......", ".......", ".......", "OO.....", "XXX.O.."), "4"),
    ("connect4", (".......", ".......", ".......", "...X...", "...X...", "OO.XO.."), "4"),
    (
        "gomoku",
        (
            ".........",
            ".........",
            "..O......",
            "...OX....",
            "....XO...",
            "....X....",
            "....X.O..",
            "....O....",
            ".........",
        ),
        "E7",
    ),
)


def manifest() -> dict[str, Any]:
    path = next(iter(MODELS.values())).with_name("manifest.toml")
    return tomllib.loads(path.read_text("utf-8"))


def game_of(name: str) -> pyengine.Game:
    return pyengine.load_game(GAMES[name])


def swapped(rows: tuple[str, ...]) -> list[str]:
    """Exchange the colours."""
    return [row.translate(str.maketrans("XO", "OX")) for row in rows]


def test_files_and_manifest_entries_match() -> None:
    assert set(GAMES) <= set(NAMES)
    assert tuple(sorted(manifest())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_describes_the_file(name: str) -> None:
    entry, content = manifest()[name], MODELS[name].read_bytes()
    assert entry["file"] == MODELS[name].name
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry["bytes"] == len(content) < 2_000_000


def by_the_loop() -> list[str]:
    """Return the networks that were trained by a run file."""
    return [name for name in NAMES if "run" in manifest()[name].get("made", {})]


@pytest.mark.parametrize("name", by_the_loop())
def test_the_manifest_describes_the_training_run(name: str) -> None:
    made = manifest()[name]["made"]
    assert made["command"] == f"python models/make_models.py --game {name}"
    assert (ROOT / "models" / made["run"]).is_file()
    assert min(made[key] for key in ("seconds", "sittings", "games", "positions", "step")) > 0
    games = [point[0] for point in made["curve"]]
    assert games == sorted(games)
    assert made["curve"][0][1] < made["curve"][-1][1], "it did not get stronger"
    assert (ROOT / "models" / "curves" / f"{name}.svg").is_file()


@pytest.mark.parametrize("name", by_the_loop())
def test_the_manifest_compares_figures_with_targets(name: str) -> None:
    rows = manifest()[name]["targets"]
    assert any("reached" in row for row in rows) or name == "othello"
    for row in rows:
        assert row["count"] > 0
        low, high = row.get("interval", (row["figure"], row["figure"]))
        assert 0 <= low <= row["figure"] <= high <= 1
        if "reached" in row:
            reached = row.get("least", 0) <= row["figure"] <= row.get("most", 1)
            reached &= row["figure"] > row.get("more_than", -1)
            assert row["reached"] is reached


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_bundled_network_contains_its_spec(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(MODELS[name].read_bytes())
    engine = pyengine.Engine(game_of(name), name, threads=1)
    assert pyengine.OnnxEvaluator(copy).spec == engine.evaluator.spec
    policy, value = engine.evaluator.evaluate([engine.game.new_initial_state()])
    assert policy.sum() == pytest.approx(1, abs=1e-5)
    assert np.abs(value).max() <= 1


@pytest.mark.parametrize(("name", "rows", "move"), WINS)
def test_a_win_in_one_is_played_and_blocked(name: str, rows: tuple[str, ...], move: str) -> None:
    game = game_of(name)
    engine = pyengine.Engine(game, name, threads=1, solver=False)
    for board, winner in ((list(rows), 0), (swapped(rows), 1)):
        state = game.state_from_board(board, player=winner)
        result = engine.search(state, simulations=100)
        assert state.action_to_string(result.action) == move, f"\n{result}"
        state = game.state_from_board(board, player=1 - winner)
        if not can_win_at_once(state):
            result = engine.search(state, simulations=200)
            assert state.action_to_string(result.action) == move, f"\n{result}"


def can_win_at_once(state: pyengine.State) -> bool:
    """Return whether the mover can win instead of blocking."""
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if after.is_terminal() and after.returns()[state.current_player()] > 0:
            return True
    return False
