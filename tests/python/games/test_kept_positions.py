"""A search makes the position of a leaf from one that it made before, and keeps none afterwards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import ClassVar

import pytest

import pyengine
from toy_games import Pairs, ToyGame, ToyState

SIMULATIONS = 2000


class Counted(ToyState):
    """Three actions for ever: the tree is deep."""

    applied: ClassVar[int] = 0
    alive: ClassVar[weakref.WeakSet[Counted]] = weakref.WeakSet()

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        super().__init__(moves)
        Counted.alive.add(self)

    def apply_action(self, action: int) -> None:
        super().apply_action(action)
        Counted.applied += 1


class CheckedPairs(Pairs):
    """Refuses what is not legal, so that a position of another node cannot be played on."""

    def apply_action(self, action: int) -> None:
        assert action in self.legal_actions(), f"{action} after {self.moves}"
        super().apply_action(action)


@pytest.fixture(autouse=True)
def _counts_from_zero() -> Iterator[None]:
    Counted.applied = 0
    yield
    Counted.alive.clear()


def test_a_leaf_costs_about_one_move() -> None:
    engine = pyengine.Engine(ToyGame(Counted), "uniform", threads=1)
    engine.search(Counted(), simulations=SIMULATIONS)
    assert Counted.applied < 1.5 * SIMULATIONS


def test_no_position_is_kept_after_a_search() -> None:
    engine = pyengine.Engine(ToyGame(Counted), "uniform", threads=1)
    counts = []
    for simulations in (10, SIMULATIONS):
        engine.search(Counted(), simulations=simulations)
        gc.collect()
        counts.append(len(Counted.alive))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_trees_at_once_do_not_mix_their_positions(threads: int) -> None:
    game = ToyGame(CheckedPairs)
    engine = pyengine.Engine(game, "rollout", threads=threads, seed=1)
    starts = [CheckedPairs((i,)) for i in range(20)]
    for result in engine.search_many(starts, simulations=200):
        assert result.simulations == 200
    state = CheckedPairs()
    for _ in range(6):
        action = engine.search(state, simulations=300).action
        engine.advance(action)
        state.apply_action(action)
