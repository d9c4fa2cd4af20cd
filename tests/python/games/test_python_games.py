"""Games written in Python: playing, rejection with clear errors, exceptions passed on unchanged."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import traceback
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import pyengine
from pyengine import _core

LIMIT = 7


class Race:
    """Count to LIMIT by steps of 1 or 2, or stay and move again; reaching LIMIT wins.

    Actions 0 and 1 add one and two and end the turn; action 2 adds one and keeps it.
    """

    def num_distinct_actions(self) -> int:
        return 3

    def new_initial_state(self) -> RaceState:
        return RaceState()


class RaceState:
    alive: ClassVar[int] = 0

    def __init__(self) -> None:
        self.count = 0
        self.player = 0
        self.moves: list[int] = []
        RaceState.alive += 1

    def __del__(self) -> None:
        RaceState.alive -= 1

    def current_player(self) -> int:
        return -4 if self.is_terminal() else self.player

    def legal_actions(self) -> list[int]:
        return [0, 1, 2] if self.count + 2 <= LIMIT else [0]

    def apply_action(self, action: int) -> None:
        self.count += 2 if action == 1 else 1
        self.moves.append(action)
        if action != 2 or self.is_terminal():
            self.player = 1 - self.player

    def is_terminal(self) -> bool:
        return self.count >= LIMIT

    def returns(self) -> list[float]:
        winner = 1 - self.player
        return [1.0, -1.0] if winner == 0 else [-1.0, 1.0]

    def clone(self) -> RaceState:
        new = type(self)()
        new.count, new.player, new.moves = self.count, self.player, list(self.moves)
        return new


class RaceWithHistory(Race):
    """The same game with all optional methods."""

    name = "race"
    max_game_length = LIMIT
    board_shape = (1, 3)

    def new_initial_state(self) -> RaceState:
        return StateWithHistory()


class StateWithHistory(RaceState):
    def history(self) -> list[int]:
        return self.moves

    def action_to_string(self, action: int) -> str:
        return ("one", "two", "more")[action]

    def __str__(self) -> str:
        return f"{self.count} of {LIMIT}"

    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return np.array([[[self.count] * 3], [[self.player] * 3]], np.float64)


def variant(**members: Any) -> Any:
    """Return a Race whose states have other methods."""
    state = type("VariantState", (RaceState,), members)
    return type("Variant", (Race,), {"new_initial_state": lambda _: state()})()


def sequences(state: RaceState, depth: int) -> int:
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


def test_a_history_that_becomes_none_is_refused() -> None:
    game = variant(history=lambda self: self.moves if len(self.moves) < 2 else None)
    state = game.new_initial_state()
    state.apply_action(0)
    with pyengine.Engine(game, "uniform") as engine:
        engine.advance(engine.search(state, simulations=20).action)
        with pytest.raises(pyengine.ConfigError, match=r"history\(\) must return a list.*NoneType"):
            engine.search(state.clone(), simulations=20)


def test_a_python_game_plays_like_a_built_in_one() -> None:
    game = pyengine.as_game(Race())
    assert game.name == "Race"
    assert game.num_distinct_actions() == 3
    assert game.num_symmetries == 1
    state = game.new_initial_state()
    movers = []
    for action in (2, 2, 1, 0, 2):
        movers.append(state.current_player())
        state.apply_action(action)
    assert movers == [0, 0, 0, 1, 0]
    assert state.legal_actions() == [0]
    state.apply_action(0)
    assert state.is_terminal()
    assert state.returns() == [1.0, -1.0]
    assert state.history() == [2, 2, 1, 0, 2, 0]
    assert state.legal_actions() == []
    assert state.current_player() == -4
    with pytest.raises(pyengine.IllegalActionError, match="over"):
        state.apply_action(0)


def test_optional_members_of_a_game_are_used() -> None:
    user = RaceWithHistory()
    game = pyengine.as_game(user)
    assert (game.name, game.max_game_length(), game.board_shape) == ("race", LIMIT, (1, 3))
    assert game.observation_shape == (2, 1, 3)
    state = game.new_initial_state([1])
    assert str(state) == "2 of 7"
    assert state.action_to_string(2) == "more"
    assert state.string_to_action("more") == 2
    assert state.string_to_action("1") == 1
    with pytest.raises(pyengine.IllegalActionError, match='"three" is not an action'):
        state.string_to_action("three")
    assert _core.unwrap_game(game) is user
    inside = _core.unwrap_state(state)
    assert isinstance(inside, StateWithHistory)
    assert inside.count == 2
    inside.apply_action(0)
    assert str(state) == "2 of 7"


def test_as_game_returns_a_game_unchanged() -> None:
    game = pyengine.load_game("othello")
    assert pyengine.as_game(game) is game
    wrapped = pyengine.as_game(Race())
    assert pyengine.as_game(wrapped) is wrapped


def test_numbers_may_be_attributes_and_legal_actions_any_sequence() -> None:
    class Attributes(Race):
        num_distinct_actions = 3  # type: ignore[assignment]
        max_utility = 1.0
        num_players = 2

    assert pyengine.as_game(Attributes()).num_distinct_actions() == 3
    for legal in ([2, 0, 1], (1, 2, 0), np.array([2, 1, 0]), range(3)):
        game = pyengine.as_game(variant(legal_actions=lambda _, legal=legal: legal))
        assert game.new_initial_state().legal_actions() == [0, 1, 2]


@pytest.mark.parametrize("make", [Race, RaceWithHistory])
def test_move_sequences_are_counted_as_in_python(make: Callable[[], Race]) -> None:
    game = pyengine.as_game(make())
    for depth in range(8):
        expected = sequences(make().new_initial_state(), depth)
        assert _core.perft(game.new_initial_state(), depth) == expected


def test_returns_are_divided_by_max_utility() -> None:
    game = variant(returns=lambda _: [-10.0, 10.0])
    game.max_utility = 40
    state = pyengine.as_game(game).new_initial_state([1, 1, 1, 0])
    assert state.returns() == [-0.25, 0.25]


# --- states that the user holds -------------------------------------------------------------------


def test_a_users_state_is_copied() -> None:
    game = pyengine.as_game(Race())
    state = Race().new_initial_state()
    state.apply_action(1)
    assert _core.perft(state, 3, game=game) == sequences(state, 3)
    assert state.moves == [1]
    assert _core.perft(game.new_initial_state([1]), 3, game=game) == sequences(state, 3)


def test_a_state_of_another_game_is_refused() -> None:
    race, othello = pyengine.as_game(Race()), pyengine.load_game("othello")
    for state, game, reason in (
        ("state", race, "RaceState, got str"),
        (othello.new_initial_state(), race, "Race"),
        (RaceState(), othello, "othello"),
    ):
        with pytest.raises(pyengine.ConfigError, match=reason):
            _core.perft(state, 1, game=game)


def test_a_python_game_and_its_states_pickle_and_serialise() -> None:
    game = pyengine.as_game(RaceWithHistory())
    state = game.new_initial_state([1, 2])
    assert game.deserialize_state(state.serialize()) == state
    again = pickle.loads(pickle.dumps(state))
    assert again.history() == [1, 2]
    assert str(again) == str(state)
    assert copy.deepcopy(state) == state


def test_no_state_outlives_its_game() -> None:
    gc.collect()
    before = RaceState.alive
    game = pyengine.as_game(Race())
    states = [game.new_initial_state([1, 0]) for _ in range(20)]
    _core.perft(states[0], 5)
    with pytest.raises(pyengine.IllegalActionError):
        states[0].apply_action(7)
    del states, game
    gc.collect()
    assert RaceState.alive == before


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "answer", "reason"),
    [
        ("current_player", -1, "chance"),
        ("current_player", -2, "simultaneous"),
        ("current_player", 2, "two-player"),
        ("current_player", -4, "is_terminal"),
        ("current_player", "first", "an int"),
        ("legal_actions", [], "empty"),
        ("legal_actions", [0, 3], r"0\.\.2"),
        ("legal_actions", [1, 1], "1 twice"),
        ("legal_actions", ["a"], "a sequence of ints"),
        ("returns", [1.0, 1.0], "zero-sum"),
        ("returns", [2.0, -2.0], "max_utility"),
        ("returns", [float("nan"), 0.0], "finite"),
        ("returns", {0: 1.0, 1: -1.0}, "two numbers"),
        ("clone", None, "clone"),
    ],
)
def test_an_impossible_answer_is_refused_and_reported(
    method: str, answer: Any, reason: str
) -> None:
    game = variant(**{method: lambda _: answer})
    with pytest.raises(pyengine.ConfigError, match=reason):
        pyengine.as_game(game).new_initial_state([1, 1, 1, 0])
    report = pyengine.check_game(game, games=1)
    assert not report.ok
    assert method in report.message or re.search(reason, report.message)


def test_chance_in_mid_game_is_refused_when_it_occurs() -> None:
    game = variant(current_player=lambda self: -1 if self.count == 3 else self.player)
    state = pyengine.as_game(game).new_initial_state([1])
    with pytest.raises(pyengine.ConfigError, match="chance"):
        state.apply_action(2)
    assert state.history() == [1]
    assert state.legal_actions() == [0, 1, 2]
    with pytest.raises(pyengine.ConfigError, match="chance"):
        _core.perft(state, 3)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"num_distinct_actions": 0}, "num_distinct_actions"),
        ({"max_utility": 0}, "max_utility"),
        ({"num_symmetries": 3}, "num_symmetries"),
        ({"num_symmetries": 8}, "num_symmetries|square"),
        ({"num_symmetries": 8, "board_shape": (3, 3)}, "points of board_shape"),
        ({"num_symmetries": 8, "board_shape": (1, 3)}, "square"),
    ],
)
def test_inconsistent_numbers_of_a_game_are_refused(members: dict[str, Any], reason: str) -> None:
    game = type("Odd", (Race,), members)()
    with pytest.raises(pyengine.ConfigError, match=reason):
        pyengine.as_game(game)


def test_missing_methods_are_named() -> None:
    with pytest.raises(pyengine.ConfigError, match="lacks clone"):
        pyengine.as_game(variant(clone=None))
    with pytest.raises(pyengine.ConfigError, match="lacks num_distinct_actions"):
        pyengine.as_game(3)


def test_a_python_game_has_no_board() -> None:
    game = pyengine.as_game(Race())
    assert not game.has_board
    with pytest.raises(pyengine.ConfigError, match="user's game"):
        game.state_from_board(["..."])
    with pytest.raises(pyengine.ConfigError, match="user's game"):
        game.new_initial_state().board_rows()


# --- exceptions of the user's code ----------------------------------------------------------------


class OwnError(Exception):
    """An exception that only the user's code defines."""


METHODS = ["clone", "is_terminal", "current_player", "legal_actions", "apply_action", "returns"]


@pytest.mark.parametrize("error", [OwnError("mine"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("method", METHODS)
def test_an_exception_reaches_the_user_unchanged(method: str, error: BaseException) -> None:
    armed = False
    original = getattr(RaceState, method)

    def failing(self: RaceState, *arguments: Any) -> Any:
        if armed and self.count >= 2:
            raise error
        return original(self, *arguments)

    state = pyengine.as_game(variant(**{method: failing})).new_initial_state([1])
    armed = True
    with pytest.raises(type(error)) as caught:
        _core.perft(state, 8)
    assert caught.value is error
    assert "failing" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    with pytest.raises(type(error)):
        _core.perft(state, 8)
    armed = False
    start = RaceState()
    start.apply_action(1)
    assert _core.perft(state, 8) == sequences(start, 8)


def test_a_state_is_unchanged_if_apply_action_raises() -> None:
    def failing(self: RaceState, action: int) -> None:
        self.count += 1
        raise OwnError

    state = pyengine.as_game(variant(apply_action=failing)).new_initial_state()
    for _ in range(2):
        with pytest.raises(OwnError):
            state.apply_action(0)
    assert state.history() == []
    assert _core.unwrap_state(state).count == 0
