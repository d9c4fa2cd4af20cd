"""check_game finds broken promises of games in C++: a real game with one method replaced."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import pyengine
from pyengine.games.built_in_checker import BuiltInChecker
from pyengine.games.promises import BrokenError


class Altered:
    """Everything of a game or a state, except for some replaced methods."""

    def __init__(self, real: Any, **replaced: Any) -> None:
        self.real, self.replaced = real, replaced

    def __getattr__(self, name: str) -> Any:
        if name in self.replaced:
            return self.replaced[name]
        return getattr(self.real, name)


class AlteredState(Altered):
    """A state with methods replaced by functions of the real state and the arguments."""

    def __getattr__(self, name: str) -> Any:
        if name in self.replaced:
            return lambda *arguments: self.replaced[name](self.real, *arguments)
        return getattr(self.real, name)

    def clone(self) -> AlteredState:
        return AlteredState(self.real.clone(), **self.replaced)

    def __eq__(self, other: object) -> bool:
        return self.real == getattr(other, "real", other)

    def __hash__(self) -> int:
        return hash(self.real)

    def __reduce__(self) -> Any:
        return AlteredState, (self.real,)

    def __str__(self) -> str:
        return str(self.real)


def altered(name: str, of_state: dict[str, Any], of_game: dict[str, Any]) -> Altered:
    game = pyengine.load_game(name)

    def of(make: Callable[..., Any]) -> Callable[..., AlteredState]:
        return lambda *arguments: AlteredState(make(*arguments), **of_state)

    makers = ("new_initial_state", "deserialize_state", "state_from_board")
    return Altered(game, **{name: of(getattr(game, name)) for name in makers}, **of_game)


def check(game: Altered) -> BuiltInChecker:
    """Play three random games."""
    wrapped: Any = game
    checker = BuiltInChecker(wrapped, wrapped, random.Random(1))
    for _ in range(3):
        checker.play()
    return checker


@pytest.mark.parametrize(
    ("name", "of_state", "of_game", "message"),
    [
        (
            "connect_four",
            {"board_rows": lambda state, ago=0: state.board_rows(0)},
            {},
            r"stones\(1\): the board 1 plies ago was .*, got",
        ),
        (
            "othello(board_size=4)",
            {"transposition_key": lambda state: len(state.history())},
            {},
            "must have the same future",
        ),
        (
            "connect_four",
            {"play_out": lambda state, _rng: [2.0, -2.0]},
            {},
            r"play_out\(\) must lie within",
        ),
        (
            "tic_tac_toe",
            {},
            {"has_setup": False, "symmetry_action": lambda k, action: action + k},
            r"symmetry 1 keeps the initial board, where action 8 becomes 9, which is illegal",
        ),
    ],
    ids=["stones", "key", "playout", "symmetry"],
)
def test_a_broken_promise_of_a_game_in_cpp_is_found(
    name: str, of_state: dict[str, Any], of_game: dict[str, Any], message: str
) -> None:
    with pytest.raises(BrokenError, match=message):
        check(altered(name, of_state, of_game))


def test_playouts_that_favour_losers_are_warned_of() -> None:
    def exchanged(state: Any, rng: Any) -> list[float]:
        return list(reversed(state.play_out(rng)))

    right = check(altered("tic_tac_toe", {}, {}))
    assert list(right.playouts.warnings()) == []
    wrong = altered("connect_four(rows=4,columns=4)", {"play_out": exchanged}, {})
    checker = BuiltInChecker(*[wrong] * 2, random.Random(1))  # type: ignore[arg-type]
    for _ in range(30):
        checker.play()
    assert re.search("favours the losers", " ".join(checker.playouts.warnings()))


def test_unchecked_symmetries_are_warned_of() -> None:
    """Each of them changes the legal actions, and the board is not known."""
    of_game = {"has_setup": False, "has_board": False, "symmetry_action": lambda k, a: a + k}
    checker = check(altered("tic_tac_toe", {}, of_game))
    assert checker.unchecked[1] == "where action 8 becomes 9, which is illegal"
    assert "no symmetry could be checked" in " ".join(checker.symmetry_warnings())
