"""Gomoku on 20x20, Gomocup's board."""

from __future__ import annotations

import base64
import pickle
import re

import numpy as np
import pytest

import pyengine
from pyengine.data.sgf.read import first_game
from pyengine.data.sgf.write import write_sgf


@pytest.fixture(params=["freestyle", "standard", "renju"])
def game(request: pytest.FixtureRequest) -> pyengine.Game:
    return pyengine.load_game("gomoku", board_size=20, rule=request.param)


@pytest.fixture
def state(game: pyengine.Game) -> pyengine.State:
    """Return a position with an open four of X in the last row."""
    moves = ("Q1", "A20", "R1", "T20", "S1", "A2", "P1", "K10")
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


@pytest.mark.parametrize("algorithm", ["uct", "gumbel", "flat_ucb"])
def test_searches_find_the_fifth_stone(state: pyengine.State, algorithm: str) -> None:
    result = pyengine.search(
        state, evaluator="rollout", algorithm=algorithm, simulations=1200, gumbel_actions=400
    )
    assert result.action_name(result.action) in ("O1", "T1")


def test_alpha_beta_finds_the_fifth_stone(state: pyengine.State) -> None:
    result = pyengine.solve(state, depth=1)
    assert (result.value, state.action_to_string(result.action)) in ((1, "O1"), (1, "T1"))


def test_all_points_have_names_planes_and_a_place_in_the_texts(state: pyengine.State) -> None:
    game = state.game
    names = [state.action_to_string(action) for action in range(400)]
    assert (names[0], names[-1], names[8]) == ("A20", "T1", "I20")
    assert [state.string_to_action(name) for name in names] == [*range(400)]
    assert "A B C D E F G H I J K L M N O P Q R S T" in str(state)
    assert game.deserialize_state(state.serialize()) == state == pickle.loads(pickle.dumps(state))
    planes = state.observation_tensor()
    assert planes.shape == (3, 20, 20)
    assert (planes[0].sum(), planes[1].sum()) == (4, 4)
    features = state.observation_tensor(pyengine.ModelSpec.gomoku17())
    assert features.shape == (17, 20, 20)
    assert np.count_nonzero(features[0] == 1) == 4
    picture = base64.b64decode(re.findall(r"base64,([^\"]+)", state._repr_html_())[0]).decode()
    assert picture.count("<circle") >= 8
    assert ">T</text>" in picture


def test_the_point_tt_is_a_move_in_sgf(game: pyengine.Game) -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    moves = [399, 0, 19]
    text = write_sgf(game.new_initial_state(), moves)
    assert b"B[tt]" in text
    assert list(first_game(text).replay(game).actions) == moves
