"""Evaluators of leaves: networks, rollouts and Python functions."""

from pyengine.eval.evaluators import (
    CallbackEvaluator,
    Evaluator,
    MixedEvaluator,
    OnnxEvaluator,
    PolicyEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
    bundled_models,
)
from pyengine.eval.rollout_policy import RolloutPolicy
from pyengine.eval.spec import ModelSpec

__all__ = [
    "CallbackEvaluator",
    "Evaluator",
    "MixedEvaluator",
    "ModelSpec",
    "OnnxEvaluator",
    "PolicyEvaluator",
    "RolloutEvaluator",
    "RolloutPolicy",
    "StateEvaluator",
    "UniformEvaluator",
    "bundled_models",
]
