"""The bundled networks: what the manifest says is so, and they can play."""

from __future__ import annotations

import hashlib
import tomllib
from typing import Any

import numpy as np
import pytest

import pyengine

MODELS = pyengine.bundled_models()
NAMES = ("connect4", "gomoku", "tic_tac_toe")

# One move wins for X, who is to move: the name, the board, that move.
WINS = (
    ("tic_tac_toe", ("OO.", "XX.", "..."), ("c2",)),
    ("tic_tac_toe", ("X.O", "OX.", "..."), ("c3",)),
    ("connect4", (".......", ".......", ".......", ".......", "OO.....", "XXX.O.."), ("4",)),
    ("connect4", (".......", ".......", ".......", "...X...", "O..XO..", "OO.XX.."), ("4",)),
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
        ("E7",),
    ),
)


def manifest() -> dict[str, Any]:
    """Read the manifest that lies beside the networks."""
    path = next(iter(MODELS.values())).with_name("manifest.toml")
    return tomllib.loads(path.read_text("utf-8"))


def game_of(name: str) -> pyengine.Game:
    """Return the game that the manifest gives a network."""
    return pyengine.load_game(manifest()[name]["game"])


def swapped(rows: tuple[str, ...]) -> list[str]:
    """Exchange the colours."""
    return [row.translate(str.maketrans("XO", "OX")) for row in rows]


def test_three_networks_are_bundled_and_described() -> None:
    """No file without an entry, no entry without a file."""
    assert tuple(sorted(MODELS)) == NAMES
    assert tuple(sorted(manifest())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_describes_the_file(name: str) -> None:
    """Digest and size are the file's, which is below 2 MB."""
    entry, content = manifest()[name], MODELS[name].read_bytes()
    assert entry["file"] == MODELS[name].name
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry["bytes"] == len(content) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_says_how_each_was_made_and_how_strong_it_is(name: str) -> None:
    """The first round needs no network; the score against playouts has an interval."""
    made, strength = manifest()[name]["made"], manifest()[name]["strength"]
    assert f"--game {name} " in made["command"]
    assert made["rounds"][0]["network_before"] is False
    for row in made["rounds"]:
        assert min(row["positions"], row["epochs"], row["training_seconds"]) > 0
    row = strength["rollout"]
    assert row["wins"] + row["draws"] + row["losses"] == strength["games"] >= 200
    assert row["score"] == pytest.approx(
        (row["wins"] + row["draws"] / 2) / strength["games"], abs=1e-3
    )
    assert 0.5 < row["interval"][0] <= row["score"] <= row["interval"][1]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_an_evaluator_whose_spec_lies_in_the_file(name: str) -> None:
    """No file beside it, nothing inferred: five planes, which the defaults are not."""
    engine = pyengine.Engine(game_of(name), name, threads=1)
    spec = engine.evaluator.spec
    assert spec.planes == ("own[0]", "opp[0]", "legal", "first_to_move", "ones")
    policy, value = engine.evaluator.evaluate([engine.game.new_initial_state()])
    assert policy.sum() == pytest.approx(1, abs=1e-5)
    assert np.abs(value).max() <= 1


@pytest.mark.parametrize(("name", "rows", "moves"), WINS)
@pytest.mark.parametrize("solver", [True, False])
def test_the_win_in_one_is_found(
    name: str, rows: tuple[str, ...], moves: tuple[str, ...], solver: bool
) -> None:
    """With the solver and by visits alone, for either colour."""
    game = game_of(name)
    engine = pyengine.Engine(game, name, threads=1, solver=solver)
    for board, player in ((list(rows), 0), (swapped(rows), 1)):
        state = game.state_from_board(board, player=player)
        result = engine.search(state, simulations=100)
        assert state.action_to_string(result.action) in moves, f"\n{result}"


@pytest.mark.parametrize(("name", "rows", "moves"), WINS)
def test_the_win_in_one_is_blocked(
    name: str, rows: tuple[str, ...], moves: tuple[str, ...]
) -> None:
    """The other side to move takes the point, unless it wins itself."""
    game = game_of(name)
    engine = pyengine.Engine(game, name, threads=1)
    for board, player in ((list(rows), 1), (swapped(rows), 0)):
        state = game.state_from_board(board, player=player)
        if can_win_at_once(state):
            continue
        result = engine.search(state, simulations=200)
        assert state.action_to_string(result.action) in moves, f"\n{result}"


def can_win_at_once(state: pyengine.State) -> bool:
    """Say whether the mover has a winning move, which is better than a block."""
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if after.is_terminal() and after.returns()[state.current_player()] > 0:
            return True
    return False


def test_tic_tac_toe_is_lost_to_nobody() -> None:
    """50 simulations a move against every line that an opponent can choose."""
    game = game_of("tic_tac_toe")
    engine = pyengine.Engine(game, "tic_tac_toe", threads=1)
    for seat in (0, 1):
        states = [game.new_initial_state()]
        while states:
            after = []
            own = [state for state in states if state.current_player() == seat]
            for state, result in zip(own, engine.search_many(own, simulations=50), strict=True):
                after.append(played(state, result.action))
            for state in states:
                if state.current_player() != seat:
                    after += [played(state, action) for action in state.legal_actions()]
            assert [str(state) for state in after if state.returns()[seat] < 0] == []
            states = [state for state in after if not state.is_terminal()]


def played(state: pyengine.State, action: int) -> pyengine.State:
    """Return the state after a move."""
    after = state.clone()
    after.apply_action(action)
    return after
