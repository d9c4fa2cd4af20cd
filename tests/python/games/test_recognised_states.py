"""Trees of users' games are reused after advance() if the state is recognised, else it warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyengine
from toy_games import HIDDEN, ToyGame, ToyState


class Line(ToyState):
    """Two players fill five points; whoever plays the last one wins. It has no history."""

    actions = 5
    history = HIDDEN

    def legal_actions(self) -> list[int]:
        return [a for a in range(5) if a not in self.moves]

    def is_terminal(self) -> bool:
        return len(self.moves) == 5

    def returns(self) -> list[float]:
        return [1.0, -1.0]


class Shown(Line):
    def __str__(self) -> str:
        return f"played {self.moves}"


class Seen(Line):
    def observation_tensor(self) -> Any:
        planes = np.zeros((1, 1, 5), np.float32)
        for ply, action in enumerate(self.moves):
            planes[0, 0, action] = ply + 1
        return planes


class Compared(Line):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self.moves == other.moves

    def __hash__(self) -> int:
        return hash(tuple(self.moves))


class Unlike(Shown):
    """Its ``==`` counts, not its text."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


def reused(kind: type[Line], advance: list[int], then: list[int]) -> int:
    """Number of reused visits in a search of the state after `then`, without a warning."""
    engine = pyengine.Engine(ToyGame(kind), "uniform", simulations=60, threads=1, solver=False)
    engine.search(kind())
    for action in advance:
        engine.advance(action)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return engine.search(kind(tuple(then))).reused


@pytest.mark.parametrize("kind", [Shown, Seen, Compared])
def test_a_tree_continues_if_the_state_is_recognised(kind: type[Line]) -> None:
    assert reused(kind, [2], [2]) > 0
    assert reused(kind, [2, 0], [2, 0]) > 0
    assert reused(kind, [2], [3]) == 0
    assert reused(kind, [2], []) == 0


def test_planes_and_text_identify_only_a_root_after_advance() -> None:
    assert reused(Compared, [], []) > 0
    assert reused(Shown, [], []) == 0
    assert reused(Unlike, [2], [2]) == 0


@pytest.mark.parametrize(
    "search",
    [
        lambda engine, state: engine.search(state),
        lambda engine, state: [*engine.analyze(state, simulations=20)][-1],
    ],
    ids=["search", "analyze"],
)
def test_a_state_that_cannot_be_recognised_gives_the_caller_one_warning(
    search: Callable[[pyengine.Engine, Line], pyengine.SearchResult],
) -> None:
    engine = pyengine.Engine(ToyGame(Line), "uniform", simulations=20, threads=1)
    engine.search(Line())
    engine.advance(1)
    with pytest.warns(UserWarning, match=r"Line has none of history\(\), __eq__") as warned:
        assert search(engine, Line((1,))).reused == 0
    assert warned[0].filename == __file__
    engine.advance(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(engine, Line((1, 2)))


def test_wrapped_states_are_always_recognised() -> None:
    engine = pyengine.Engine(ToyGame(Line), "uniform", simulations=60, threads=1, solver=False)
    state = engine.game.new_initial_state()
    engine.search(state)
    state.apply_action(2)
    engine.advance(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine.search(state).reused > 0
