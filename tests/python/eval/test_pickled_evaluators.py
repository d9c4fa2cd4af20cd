"""Evaluators pickle and copy if their parts do."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import (
    CallbackEvaluator,
    MixedEvaluator,
    ModelSpec,
    OnnxEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
)
from pyengine.eval import Evaluator, PolicyEvaluator, RolloutPolicy

CONNECT_FOUR = pyengine.load_game("connect_four").new_initial_state([3, 3, 2])
GO = pyengine.load_game("go(board_size=9)").new_initial_state([40])


def on_planes(planes: Any) -> Any:
    return np.arange(len(planes) * 7).reshape(-1, 7), planes[:, 0].mean(axis=(1, 2))


def on_states(states: Any) -> Any:
    return np.ones((len(states), 7)), [-0.1 * len(state.history()) for state in states]


def policy() -> RolloutPolicy:
    none = np.zeros(65536, np.float32)
    return RolloutPolicy(none, none, {"capture_stone": 2.0, "distance_2": 0.1})


class Subclass(StateEvaluator):
    """A subclass with a different constructor."""

    def __init__(self) -> None:
        super().__init__(on_states)


def network() -> OnnxEvaluator:
    return OnnxEvaluator(pyengine.bundled_models()["connect4"], providers=["cpu"], max_batch=8)


EVALUATORS: dict[str, tuple[Any, Any]] = {
    "uniform": (UniformEvaluator, CONNECT_FOUR),
    "onnx": (network, CONNECT_FOUR),
    "callback": (
        lambda: CallbackEvaluator(on_planes, ModelSpec(planes=("own[0]",))),
        CONNECT_FOUR,
    ),
    "state": (lambda: StateEvaluator(on_states), CONNECT_FOUR),
    "mixed": (lambda: MixedEvaluator(network(), UniformEvaluator(), mix=0.25), CONNECT_FOUR),
    "policy": (lambda: PolicyEvaluator(policy()), GO),
}


def copies(evaluator: Evaluator) -> list[Evaluator]:
    evaluators = [pickle.loads(pickle.dumps(evaluator)), copy.copy(evaluator)]
    return [*evaluators, copy.deepcopy(evaluator)]


@pytest.mark.parametrize("name", list(EVALUATORS))
def test_a_pickled_evaluator_evaluates_as_before(name: str) -> None:
    make, state = EVALUATORS[name]
    evaluator = make()
    policy, value = evaluator.evaluate([state])
    for again in copies(evaluator):
        assert repr(again) == repr(evaluator)
        assert again.spec == evaluator.spec
        np.testing.assert_array_equal(again.evaluate([state])[0], policy)
        np.testing.assert_array_equal(again.evaluate([state])[1], value)


def test_a_pickled_rollout_evaluator_keeps_its_rollouts_and_policy() -> None:
    for evaluator in (RolloutEvaluator(7), RolloutEvaluator(3, policy())):
        for again in copies(evaluator):
            assert repr(again) == repr(evaluator)  # with the digest of the policy


@pytest.mark.parametrize(
    ("evaluator", "reason"),
    [
        (StateEvaluator(lambda states: on_states(states)), "lambda"),
        (MixedEvaluator(CallbackEvaluator(lambda planes: on_planes(planes)), "uniform"), "lambda"),
        (Subclass(), "a subclass of StateEvaluator must define __reduce__"),
    ],
)
def test_an_evaluator_that_cannot_pickle_says_why(evaluator: Evaluator, reason: str) -> None:
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError), match=reason):
        pickle.dumps(evaluator)
