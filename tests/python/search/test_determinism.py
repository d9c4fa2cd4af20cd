"""deterministic=True: equal calls give equal results for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyengine
from pyengine.eval import Evaluator
from third_party_networks import NETWORKS

THREADS = (2, 16)
Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def linear(planes: npt.NDArray[np.float32]) -> Arrays:
    """Return a network-like function whose rows are independent."""
    rows = planes.reshape(len(planes), -1)
    rng = np.random.default_rng(5)
    policy = rng.normal(size=(rows.shape[1], 7))
    value = rng.normal(size=rows.shape[1])
    # Row by row: a matrix product may round differently for another number of rows.
    return np.stack([row @ policy for row in rows]), np.tanh([row @ value for row in rows])


def facts(result: pyengine.SearchResult) -> tuple[Any, ...]:
    """Return everything that must be equal."""
    return (
        result.action,
        result.value,
        result.visits.tolist(),
        str(result.q.tolist()),
        result.priors.tolist(),
        result.pv,
        result.nodes,
        result.simulations,
        result.evaluations,
        result.proven,
        result.stop_reason,
        str(result.tree_nodes.tolist()),
    )


def sequence(game: str, evaluator: Any, threads: int, **settings: Any) -> list[Any]:
    """Search, advance, search again; then search many states."""
    engine = pyengine.Engine(game, evaluator, deterministic=True, threads=threads, **settings)
    state = engine.game.new_initial_state()
    results = []
    for ply in range(3):
        result = engine.search(
            state,
            simulations=24,
            dirichlet_fraction=0.25 * (ply % 2),
            dirichlet_shaped=True,
            root_policy_temperature=1.0 + 0.1 * ply,
        )
        results.append(facts(result))
        state.apply_action(result.action)
        engine.advance(result.action)
    states = [engine.game.new_initial_state([a]) for a in range(5)]
    results += [facts(result) for result in engine.search_many(states, simulations=12)]
    return results


def network(shared: Callable[..., Path], name: str) -> Evaluator:
    return pyengine.OnnxEvaluator(
        shared("nets", f"{name}.onnx"), NETWORKS[name].spec, providers=["cpu"]
    )


EVALUATORS = ["uniform", "rollout", "callback", "onnx", "onnx + rollout", "onnx + callback"]


def check(shared: Callable[..., Path], kind: str, repeats: int, **settings: Any) -> None:
    def part(name: str) -> Any:
        if name == "onnx":
            return network(shared, "connect4_sunshine")
        return linear if name == "callback" else name

    def evaluator() -> Any:
        parts = [part(name) for name in kind.split(" + ")]
        return parts[0] if len(parts) == 1 else pyengine.MixedEvaluator(*parts)

    expected = sequence("connect_four", evaluator(), 1, **settings)
    for _ in range(repeats):
        for threads in THREADS:
            assert sequence("connect_four", evaluator(), threads, **settings) == expected


@pytest.mark.parametrize("repeats", [1, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", EVALUATORS)
def test_results_are_the_same_at_any_number_of_threads(
    kind: str, repeats: int, shared: Callable[..., Path]
) -> None:
    check(shared, kind, repeats)


@pytest.mark.parametrize(
    ("symmetry", "collision"),
    [("none", "virtual_loss"), ("random", "virtual_loss"), ("average", "virtual_visit"),
     ("root_average", "virtual_loss"), ("fill", "virtual_visit")],
)  # fmt: skip
def test_results_are_the_same_in_all_modes(
    symmetry: str, collision: str, shared: Callable[..., Path]
) -> None:
    check(shared, "callback", 1, symmetry=symmetry, collision=collision, batch_size=16)


def test_cached_evaluations_change_nothing(shared: Callable[..., Path]) -> None:
    evaluator = network(shared, "connect4_sunshine")
    results = []
    for warm in (False, True):
        engine = pyengine.Engine("connect_four", evaluator, deterministic=True)
        state = engine.game.new_initial_state()
        if warm:
            engine.search(state, simulations=100, deterministic=False)
        result = engine.search(state, simulations=100, reuse_tree=False)
        results.append(facts(result))
    assert results[0] == results[1]


def test_proofs_are_deterministic() -> None:
    expected = None
    for threads in (1, *THREADS):
        engine = pyengine.Engine("tic_tac_toe", "rollout", deterministic=True, threads=threads)
        state = engine.game.new_initial_state([0, 4])
        result = facts(engine.search(state, simulations=20_000))
        assert result[9] == 0
        expected = expected or result
        assert result == expected
