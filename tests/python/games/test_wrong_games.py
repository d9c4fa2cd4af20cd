"""Wrong arguments of games and states raise one clear error and leave the state unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.games import as_game
from toy_games import Pairs, ToyGame, ToyState
from wrong_values import all_but, cases, check_refused, wrong

GAME = pyengine.load_game("connect_four")
GO = pyengine.load_game("go(board_size=5)")
REFUSED = (pyengine.ConfigError, pyengine.IllegalActionError)
NUMBER = all_but("negative")  # not ints of a supported size


@cases(
    [
        ("load_game", pyengine.load_game, all_but("text", "NUL"), "expected"),
        ("load_game, name", pyengine.load_game, {"name": "chess"}, "chess"),
        ("as_game", as_game, all_but("text", "NUL"), "lacks num_distinct_actions"),
        ("as_game, text", as_game, wrong("text", "NUL"), "expected a Game, got"),
        ("moves", GAME.new_initial_state, all_but("list", "dict", "tuple", "array"), "moves"),
        ("moves, text", GAME.new_initial_state, {"digits": "443"}, "moves: expected"),
        ("rows", GAME.state_from_board, all_but("text", "NUL"), "rows"),
        ("rows, None", GAME.state_from_board, {"None": None}, "rows: expected"),
        ("player", lambda v: GAME.state_from_board(["......."] * 6, v), NUMBER, "player"),
        ("ko", lambda v: GO.state_from_board(["....."] * 5, ko=v), all_but("None"), "ko"),
        ("deserialize", GAME.deserialize_state, all_but("text", "NUL"), "expected a str"),
        ("symmetry", GAME.symmetry_points, all_but("negative"), ""),
        ("symmetry, k", lambda v: GAME.symmetry_action(v, 0), all_but("negative"), ""),
        ("observation", GAME.new_initial_state().observation_tensor, all_but("None"), "spec"),
    ]
)
def test_a_game_refuses_wrong_arguments(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)


@pytest.mark.parametrize("verb", ["apply_action", "action_to_string", "string_to_action"])
def test_an_action_is_an_int_of_the_game(verb: str) -> None:
    state = GAME.new_initial_state(np.array([3, 3]))
    state.apply_action(np.int64(3))
    check_refused(getattr(state, verb), all_but(), "", REFUSED)
    assert state.history() == [3, 3, 3]
    check_refused(lambda v: GAME.new_initial_state([v]), all_but(), "expected", REFUSED)


def test_check_game_refuses_wrong_numbers() -> None:
    game = ToyGame(Pairs)
    check_refused(lambda v: pyengine.check_game(game, games=v), all_but("huge"), "games")
    check_refused(lambda v: pyengine.check_game(game, games=0, seed=v), all_but("huge"), "seed")


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("num_distinct_actions", all_but("function", "negative")),
        ("new_initial_state", all_but("function")),
        ("max_utility", all_but("function", "fraction", "huge", "negative")),
        ("max_game_length", all_but("function", "negative")),
        ("board_shape", all_but("None", "function")),
        ("num_symmetries", all_but("function")),
        ("num_players", all_but("function")),
    ],
)
def test_a_wrong_attribute_of_a_game_is_named(attribute: str, values: dict[str, Any]) -> None:
    def wrap(value: Any) -> None:
        game = ToyGame(Pairs)
        setattr(game, attribute, value)
        as_game(game)

    check_refused(wrap, values, "players" if attribute == "num_players" else attribute)


@pytest.mark.parametrize("use", [as_game, lambda game: pyengine.Engine(game, "uniform")])
def test_a_class_instead_of_a_game_is_refused(use: Any) -> None:
    message = r"expected a game, got the class ToyGame; make one with ToyGame\(\.\.\.\)"
    with pytest.raises(pyengine.ConfigError, match=message):
        use(ToyGame)


def test_a_class_with_static_methods_is_a_game() -> None:
    class Static:
        @staticmethod
        def num_distinct_actions() -> int:
            return 3

        @classmethod
        def new_initial_state(cls) -> Any:
            return ToyState()

    assert as_game(Static).num_distinct_actions() == 3
