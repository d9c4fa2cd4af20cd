"""Games written in Python: playing, refusals with clear errors, exceptions passed on unchanged."""

from __future__ import annotations

import copy
import pickle
import re
import traceback
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, _core
from pyengine.games import as_game
from toy_games import HIDDEN, Matches, Pairs, ToyGame, ToyState


class Named(Matches):
    """Matches with all optional methods."""

    def action_to_string(self, action: int) -> str:
        return ("one", "two", "three")[action]

    def __str__(self) -> str:
        return f"{self.left} left"

    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return np.full((2, 1, 3), self.left, np.float64)


class Memoryless(Matches):
    """Matches without a history."""

    history = HIDDEN


def game_of(**members: Any) -> Any:
    """Return the game of Matches with other members of its states."""
    return ToyGame(type("Own", (Matches,), members))


def sequences(state: Any, depth: int) -> int:
    """Count move sequences in Python."""
    if depth == 0 or state.is_terminal():
        return 1
    total = 0
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        total += sequences(child, depth - 1)
    return total


# --- playing --------------------------------------------------------------------------------------


def test_a_python_game_plays_like_a_built_in_one() -> None:
    game = as_game(ToyGame(Pairs))
    assert (game.name, game.num_distinct_actions(), game.num_symmetries) == ("ToyGame", 20, 1)
    moves = [0, 4, 8, 1, 2, 12, 16, 3]
    state = game.new_initial_state()
    movers = []
    for action in moves:
        movers.append(state.current_player())
        state.apply_action(action)
    assert movers == [0, 1, 1, 0, 0, 1, 1, 0]
    assert state.is_terminal()
    assert (state.returns(), state.history()) == ([1.0, -1.0], moves)
    assert (state.legal_actions(), state.current_player()) == ([], -4)
    with pytest.raises(pyengine.IllegalActionError, match="over"):
        state.apply_action(5)


def test_optional_members_of_a_game_are_used() -> None:
    user = ToyGame(Named)
    vars(user).update(name="matches", max_game_length=11, board_shape=(1, 3))
    game = as_game(user)
    assert (game.name, game.max_game_length(), game.board_shape) == ("matches", 11, (1, 3))
    assert game.observation_shape == (2, 1, 3)
    state = game.new_initial_state([1])
    assert str(state) == "9 left"
    assert state.action_to_string(2) == "three"
    assert (state.string_to_action("three"), state.string_to_action("1")) == (2, 1)
    with pytest.raises(pyengine.IllegalActionError, match='"four" is not an action'):
        state.string_to_action("four")
    assert _core.unwrap_game(game) is user
    inside = _core.unwrap_state(state)
    assert isinstance(inside, Named)
    inside.apply_action(0)
    assert str(state) == "9 left"


def test_as_game_returns_a_game_unchanged() -> None:
    for game in (pyengine.load_game("othello"), as_game(ToyGame(Matches))):
        assert as_game(game) is game


def test_numbers_may_be_attributes_and_legal_actions_any_sequence() -> None:
    game: Any = ToyGame(Matches)
    vars(game).update(num_distinct_actions=3, max_utility=1.0, num_players=2)
    assert as_game(game).num_distinct_actions() == 3
    for legal in ([2, 0, 1], (1, 2, 0), np.array([2, 1, 0]), range(3)):
        game = as_game(game_of(legal_actions=lambda _, legal=legal: legal))
        assert game.new_initial_state().legal_actions() == [0, 1, 2]


@pytest.mark.parametrize(("kind", "most"), [(Memoryless, 7), (Named, 7), (Pairs, 3)])
def test_move_sequences_are_counted_as_in_python(kind: type[ToyState], most: int) -> None:
    game = as_game(ToyGame(kind))
    for depth in range(most + 1):
        assert pyengine.perft(game.new_initial_state(), depth) == sequences(kind(), depth)


def test_a_users_state_is_copied() -> None:
    game = as_game(ToyGame(Matches))
    state = Matches((1,))
    assert pyengine.perft(state, 3, game=game) == sequences(state, 3)
    assert state.moves == (1,)


def test_a_python_game_and_its_states_pickle_and_serialise() -> None:
    game = as_game(ToyGame(Named))
    state = game.new_initial_state([1, 2])
    assert game.deserialize_state(state.serialize()) == state
    again = pickle.loads(pickle.dumps(state))
    assert (again.history(), str(again)) == ([1, 2], str(state))
    assert copy.deepcopy(state) == state


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "answer", "reason"),
    [
        ("current_player", -1, "chance"),
        ("current_player", -4, "is_terminal"),
        ("current_player", "first", "an int"),
        ("legal_actions", [], "empty"),
        ("legal_actions", ["a"], "a sequence of ints"),
        ("returns", [1.0, 1.0], "zero-sum"),
        ("returns", {0: 1.0, 1: -1.0}, "two numbers"),
        ("clone", None, "clone"),
    ],
)
def test_an_impossible_answer_is_refused_and_reported(
    method: str, answer: Any, reason: str
) -> None:
    game = game_of(**{method: lambda _: answer})
    with pytest.raises(ConfigError, match=reason):
        as_game(game).new_initial_state([2, 2, 2, 1])
    report = pyengine.check_game(game, games=1)
    assert not report.ok
    assert method in report.message or re.search(reason, report.message)


def test_a_history_that_becomes_none_is_refused() -> None:
    game = game_of(history=lambda self: self.moves if len(self.moves) < 2 else None)
    state = game.new_initial_state()
    state.apply_action(0)
    with pyengine.Engine(game, "uniform") as engine:
        engine.advance(engine.search(state, simulations=20).action)
        with pytest.raises(ConfigError, match=r"history\(\) must return a list.*NoneType"):
            engine.search(state.clone(), simulations=20)


def test_missing_methods_are_named() -> None:
    with pytest.raises(ConfigError, match="lacks clone"):
        as_game(game_of(clone=None))
    with pytest.raises(ConfigError, match="lacks num_distinct_actions"):
        as_game(3)


def test_a_state_of_another_game_is_refused() -> None:
    matches, othello = as_game(ToyGame(Matches)), pyengine.load_game("othello")
    for state, game, reason in (
        ("state", matches, "Matches, got str"),
        (othello.new_initial_state(), matches, "ToyGame"),
        (Matches(), othello, "othello"),
    ):
        with pytest.raises(ConfigError, match=reason):
            pyengine.perft(state, 1, game=game)


def test_a_python_game_has_no_board() -> None:
    game = as_game(ToyGame(Matches))
    assert not game.has_board
    with pytest.raises(ConfigError, match="user's game"):
        game.state_from_board(["..."])
    with pytest.raises(ConfigError, match="user's game"):
        game.new_initial_state().board_rows()


# --- exceptions of the user's code ----------------------------------------------------------------


class OwnError(Exception):
    """An exception that only the user's code defines."""


METHODS = ["clone", "is_terminal", "current_player", "legal_actions", "apply_action", "returns"]


@pytest.mark.parametrize("method", METHODS)
def test_an_exception_reaches_the_user_unchanged(method: str) -> None:
    error = OwnError("mine")
    armed = False

    def failing(self: Matches, *arguments: Any) -> Any:
        if armed and self.left < 10:
            raise error
        return getattr(Matches, method)(self, *arguments)

    state = as_game(game_of(**{method: failing})).new_initial_state([1])
    armed = True
    with pytest.raises(OwnError) as caught:
        pyengine.perft(state, 9)
    assert caught.value is error
    assert "failing" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    armed = False
    assert pyengine.perft(state, 9) == sequences(Matches((1,)), 9)


def test_a_state_is_unchanged_if_apply_action_raises() -> None:
    def failing(self: Matches, action: int) -> None:
        self.moves = (action,)
        raise OwnError

    state = as_game(game_of(apply_action=failing)).new_initial_state()
    for _ in range(2):
        with pytest.raises(OwnError):
            state.apply_action(0)
    assert state.history() == []
    assert _core.unwrap_state(state).moves == ()
