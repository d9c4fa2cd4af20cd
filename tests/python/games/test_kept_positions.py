"""A search creates a leaf's position from a stored one, and stores none after it ends."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import ClassVar

import pytest

import pyengine
from toy_games import Pairs, ToyGame, ToyState

SIMULATIONS = 1000


class Counted(ToyState):
    """Three actions forever, so the tree is deep."""

    applied: ClassVar[int] = 0
    alive: ClassVar[weakref.WeakSet[Counted]] = weakref.WeakSet()

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        super().__init__(moves)
        Counted.alive.add(self)

    def apply_action(self, action: int) -> None:
        super().apply_action(action)
        Counted.applied += 1


class CheckedPairs(Pairs):
    """Rejects illegal actions, so a wrong stored position would be detected."""

    def apply_action(self, action: int) -> None:
        assert action in self.legal_actions(), f"{action} after {self.moves}"
        super().apply_action(action)


@pytest.fixture(autouse=True)
def _counts_from_zero() -> Iterator[None]:
    Counted.applied = 0
    yield
    Counted.alive.clear()


def test_a_leaf_takes_about_one_move() -> None:
    engine = pyengine.Engine(ToyGame(Counted), "uniform", threads=1)
    engine.search(Counted(), simulations=SIMULATIONS)
    assert Counted.applied < 1.5 * SIMULATIONS


def test_a_search_keeps_no_position() -> None:
    engine = pyengine.Engine(ToyGame(Counted), "uniform", threads=1)
    counts = []
    for simulations in (10, SIMULATIONS):
        engine.search(Counted(), simulations=simulations)
        gc.collect()
        counts.append(len(Counted.alive))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_concurrent_trees_do_not_mix_their_positions(threads: int) -> None:
    game = ToyGame(CheckedPairs)
    engine = pyengine.Engine(game, "uniform", threads=threads)
    starts = [CheckedPairs((i,)) for i in range(20)]
    for result in engine.search_many(starts, simulations=40):
        assert result.simulations == 40
    state = CheckedPairs()
    for _ in range(4):
        action = engine.search(state, simulations=100).action
        engine.advance(action)
        state.apply_action(action)
