"""Whether many trees that share batches choose the same moves as separate searches.

Leaves in flight should be spread over the trees before any tree gets a second one. With one leaf
per tree, the batches are full and each search is unaffected by the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine
from pyengine import ModelSpec, SearchConfig
from pyengine.eval import Evaluator

if TYPE_CHECKING or __package__:
    from .common import check
    from .intervals import Interval, of_share
    from .modelled import ModelledDevice
else:  # run as a script
    from common import check
    from intervals import Interval, of_share
    from modelled import ModelledDevice

GAME = "gomoku"
SIMULATIONS = 300
#: Minimum share of trees that choose the move of the serial search.
ASKED = 97.0
THREADS = (1, 2, 4, 16)


@dataclass(frozen=True)
class Subject:
    """Trees that share an evaluator.

    Attributes:
        evaluator: "device" (modelled) or "callable" (NumPy).
        trees, batch: number of concurrent trees, and rows per batch.
    """

    evaluator: str
    trees: int
    batch: int

    def knob(self, threads: int) -> str:
        """Return the last part of a row's name."""
        return f"same_move,trees={self.trees},batch={self.batch},threads={threads}"

    def make(self, *, slow: bool) -> Evaluator:
        """Return the evaluator. Without latency, the answers are immediate but the same."""
        if self.evaluator == "callable":
            return _callable()
        return ModelledDevice() if slow else ModelledDevice(latency=0.0, per_row=0.0)


SUBJECTS = (Subject("device", 384, 64), Subject("callable", 128, 64), Subject("callable", 128, 8))
QUICK = (Subject("device", 48, 4), Subject("callable", 32, 4))


def _callable() -> pyengine.CallbackEvaluator:
    """Return random linear functions of the planes, computed with NumPy."""
    points = int(np.prod(pyengine.load_game(GAME).board_shape))
    weights = np.random.default_rng(0).normal(size=(3 * points, points + 1)).astype(np.float32)

    def evaluate(planes: Any) -> Any:
        answers = planes.reshape(len(planes), -1) @ weights
        return 0.4 * answers[:, :-1], np.tanh(0.1 * answers[:, -1])

    return pyengine.CallbackEvaluator(evaluate, ModelSpec())


def positions(count: int) -> list[Any]:
    """Return states after 4 to 15 random moves."""
    random = np.random.default_rng(1)
    game = pyengine.load_game(GAME)
    states = []
    for i in range(count):
        state = game.new_initial_state()
        for _ in range(4 + i % 12):
            state.apply_action(int(random.choice(state.legal_actions())))
        states.append(state)
    return states


def config_for(subject: Subject, threads: int, simulations: int) -> SearchConfig:
    """Return the default settings with this batch and thread count, and no cache."""
    return SearchConfig(
        simulations=simulations,
        threads=threads,
        batch_size=subject.batch,
        symmetry="none",
        cache_entries=0,
    )


def serial_moves(subject: Subject, states: list[Any], simulations: int) -> list[int]:
    """Return the moves of the serial search."""
    config = config_for(subject, 1, simulations).replace(in_flight=1)
    with pyengine.Engine(GAME, subject.make(slow=False), config=config) as engine:
        return [result.action for result in engine.search_many(states)]


def measure(
    subject: Subject, threads: int, states: list[Any], serial: list[int], simulations: int
) -> dict[str, Any]:
    """Search all trees together and return how many chose the serial search's move."""
    config = config_for(subject, threads, simulations)
    with pyengine.Engine(GAME, subject.make(slow=True), config=config) as engine:
        results = engine.search_many(states)
        stats = engine.stats()
    visits = [int(result.visits.sum()) for result in results]
    check("every simulation is one visit", set(visits) == {simulations}, visits)
    same = sum(result.action == move for result, move in zip(results, serial, strict=True))
    low, high, confidence = of_share(same, len(states))
    return {
        "trees": len(states),
        "asked": ASKED,
        "same %": round(100 * same / len(states), 1),
        **Interval(100 * low, 100 * high, confidence).columns(),
        "fill": stats["evaluations"] / stats["batches"],
        "collisions/row": stats["collisions"] / stats["evaluations"],
    }
