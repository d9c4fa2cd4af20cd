"""Mixed evaluators with Python parts: threads, calls and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pyengine import (
    CallbackEvaluator,
    Engine,
    MixedEvaluator,
    ModelError,
    StateEvaluator,
    load_game,
)
from pyengine.benchmarks.modelled import ModelledDevice
from pyengine.eval import Evaluator

ACTIONS = 7


@dataclass
class Calls:
    """Python functions that record their calls."""

    threads: list[int] = field(default_factory=list)
    rows: int = 0
    inside: int = 0
    most_inside: int = 0

    def evaluate(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.threads.append(threading.get_ident())
        self.rows += rows
        result = np.full((rows, ACTIONS), 0.5, np.float32), np.zeros(rows, np.float32)
        self.inside -= 1
        return result

    def planes(self) -> Evaluator:
        return CallbackEvaluator(lambda planes: self.evaluate(len(planes)))

    def states(self) -> Evaluator:
        return StateEvaluator(lambda states: self.evaluate(len(states)))


EVALUATORS: dict[str, Callable[[Calls, Any], Evaluator]] = {
    "a callback alone": lambda calls, _: calls.planes(),
    "a callback beside a network": lambda calls, net: MixedEvaluator(net, calls.planes()),
    "states beside a network": lambda calls, net: MixedEvaluator(net, calls.states()),
    "a callback as the network": lambda calls, net: MixedEvaluator(calls.planes(), net),
    "states as the network": lambda calls, net: MixedEvaluator(calls.states(), net),
    "both parts in Python": lambda calls, _: MixedEvaluator(calls.planes(), calls.states()),
    "nested": lambda calls, net: MixedEvaluator(
        MixedEvaluator(net, calls.states()), calls.planes()
    ),
}


@pytest.mark.parametrize(("network", "cache_entries"), [("connect4", 2**16), ("device", 0)])
@pytest.mark.parametrize("kind", EVALUATORS)
def test_python_is_called_on_the_thread_that_searches(
    kind: str, cache_entries: int, network: str
) -> None:
    calls = Calls()
    net = ModelledDevice(latency=2e-4) if network == "device" else network
    game = load_game("connect_four")
    engine = Engine(
        game,
        EVALUATORS[kind](calls, net),
        threads=4,
        simulations=150,
        cache_entries=cache_entries,
        reuse_tree=False,
        solver=False,
    )
    state = game.new_initial_state()
    for _ in range(2):
        assert engine.search(state).simulations == 150
    engine.search_many([state, game.new_initial_state([3])], simulations=60)
    assert len(calls.threads) > 10
    assert set(calls.threads) == {threading.get_ident()}
    assert calls.most_inside == 1


def test_with_a_weight_of_0_the_other_part_is_not_called_but_must_fit() -> None:
    calls = Calls()
    visits = []
    for evaluator in (MixedEvaluator("uniform", calls.states(), mix=0), "uniform"):
        engine = Engine("gomoku(board_size=9)", evaluator, threads=2, deterministic=True)
        visits.append(engine.search(engine.game.new_initial_state(), simulations=150).visits)
    assert visits[0].tolist() == visits[1].tolist()
    assert calls.rows == 0
    with pytest.raises(ModelError, match="does not fit the game connect_four"):
        Engine("connect_four", MixedEvaluator("connect4", "go7", mix=0))


def test_evaluations_count_only_rows_of_the_network() -> None:
    calls = Calls()
    mixed = MixedEvaluator("connect4", calls.states())
    engine = Engine("connect_four", mixed, threads=2, solver=False, reuse_tree=False)
    state = engine.game.new_initial_state()
    counted = 0
    for _ in range(2):
        result = engine.search(state, simulations=300)
        counted += result.evaluations
    assert result.evaluations < 100  # the rest is in the cache
    assert counted + engine.stats()["cache_hits"] == calls.rows
    no_rows = Engine("connect_four", MixedEvaluator("uniform", calls.planes()), threads=2)
    assert no_rows.search(state, simulations=50).evaluations == 0
