"""Inferring the spec of a model, and contradictions between a spec and a model."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import Engine, ModelError, bundled_models
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.onnx_files import read_onnx
from pyengine.eval.spec import ModelSpec
from simulated_gpu import GAME, evaluator_of, open_model, tiny
from tiny_models import DEFAULT

STATES = [GAME.new_initial_state(moves) for moves in ((), (3,), (3, 3, 2), (0, 6, 1, 5))]
PROBABILITIES = ("Softmax",)


def opened(path: Path, spec: ModelSpec | None = None) -> OnnxEvaluator:
    return OnnxEvaluator(path, spec, providers=["cpu"])


def assumed(path: Path) -> OnnxEvaluator:
    """Open a network without a spec."""
    with pytest.warns(UserWarning, match="assumed") as caught:
        evaluator = opened(path)
    assert len(caught) == 1
    return evaluator


ENDS = {
    "nothing known": ((), (), "logits", None),
    "tanh": ((), ("Tanh",), "logits", None),
    "softmax and sigmoid": (("Softmax",), ("Sigmoid",), "probs", "probs"),
    "log softmax": (("LogSoftmax",), ("Tanh",), "log_probs", None),
    "behind reshapes": (("Softmax", "Cast", "Identity"), ("Sigmoid", "Flatten"), "probs", "probs"),
    "probabilities by their numbers": (("Softmax", "Abs"), ("Tanh", "Neg"), "probs", None),
    "log-probabilities by their numbers": (("LogSoftmax", "Abs", "Neg"), (), "log_probs", None),
    "a sigmoid that is scaled": ((), ("Sigmoid", "Neg"), "logits", None),
}


@pytest.mark.parametrize(("policy", "value", "kind", "value_kind"), ENDS.values(), ids=ENDS)
def test_last_operators_and_a_trial_run_determine_the_kinds_of_outputs(
    policy: Any, value: Any, kind: str, value_kind: str | None, tmp_path: Path
) -> None:
    path = tiny(policy_ends=policy, value_ends=value).write(tmp_path / "m.onnx")
    assert assumed(path).spec == ModelSpec(policy=kind, value_kind=value_kind)


@pytest.mark.parametrize(
    "form",
    [{"batch": 1}, {"dtype": np.float16}, {"int8_input": True}, {"names": ("x", "p", "v")}],
    ids=str,
)
def test_a_trial_run_works_with_any_batch_type_and_name(
    form: dict[str, Any], tmp_path: Path
) -> None:
    path = tiny(policy_ends=("Softmax", "Abs"), **form).write(tmp_path / "m.onnx")
    spec = assumed(path).spec
    assert spec is not None
    assert spec.policy == "probs"


def test_with_a_dynamic_board_size_the_trial_run_waits_for_the_game(tmp_path: Path) -> None:
    path = tiny(policy_ends=("Softmax", "Abs")).write(tmp_path / "m.onnx")
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    model = onnx.load(path)
    for dim in model.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_param = "any"
    onnx.save(model, path)
    evaluator = assumed(path)
    assert evaluator.spec == ModelSpec()
    with pytest.raises(ModelError, match=r'policy: expected "logits".*, got "probs"'):
        Engine(GAME, evaluator)


def test_probabilities_are_distinguished_from_logits(tmp_path: Path) -> None:
    model = tiny(policy_ends=PROBABILITIES, value_ends=("Sigmoid",))
    policy, value = assumed(model.write(tmp_path / "m.onnx")).evaluate(STATES)
    logits, tanh = model.outputs(np.stack([state.observation_tensor() for state in STATES]))
    priors = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(policy, priors / priors.sum(axis=1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(value, np.tanh(np.arctanh(tanh) / 2)[:, 0], atol=1e-5)


def test_the_warning_shows_a_valid_spec(tmp_path: Path) -> None:
    path = tiny(policy_ends=PROBABILITIES, names=("x", "p", "v")).write(tmp_path / "m.onnx")
    with pytest.warns(UserWarning, match=r"m\.spec\.json.*'pyengine\.spec'") as caught:
        evaluator = opened(path)
    shown = re.search(r"assumed (ModelSpec\(.*?\))\. To", str(caught[0].message))
    assert shown is not None
    spec = eval(shown[1], {"ModelSpec": ModelSpec})
    results = opened(path, spec).evaluate(STATES)
    for ours, theirs in zip(results, evaluator.evaluate(STATES), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_explicit_spec_causes_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for file in bundled_models().values():
            opened(file)
        silent = tiny().write(tmp_path / "m.onnx")
        opened(silent, ModelSpec())
        opened(tiny(metadata=DEFAULT).write(tmp_path / "inside.onnx"))
        (tmp_path / "m.spec.json").write_text("{}")
        opened(silent)


THREE_WAY = {"value": ("win", "draw", "loss")}
REFUTED = {
    "a softmax": (("Softmax",), ("Tanh",), {}, r"policy: .*\"logits\".*\"probs\".*'policy'.* Soft"),
    "a sum of 1": (("Softmax", "Abs"), (), {}, r"policy: .*\"probs\".*gives numbers .* sum to 1"),
    "a negative number": ((), (), {"policy": "probs"}, r"policy: .*\"probs\".* got -\d"),
    "a sigmoid": ((), ("Sigmoid",), {}, r"value_kind: .*\"tanh\".*\"probs\".*'value'.*Sigmoid"),
    "a 3-way softmax": ((), ("Softmax",), THREE_WAY, r"value_kind: .*\"logits\".*Softmax"),
}


@pytest.mark.parametrize("name", REFUTED)
def test_an_error_names_the_field_that_contradicts_the_model(name: str, tmp_path: Path) -> None:
    policy_ends, value_ends, fields, message = REFUTED[name]
    spec = ModelSpec(**fields)
    value_size = len(spec.value) if "value" in fields else 1
    model = tiny(value_size=value_size, policy_ends=policy_ends, value_ends=value_ends)
    in_file = name == "a softmax"
    if in_file:
        model.metadata["pyengine.spec"] = spec.to_json()
    evaluator = opened(model.write(tmp_path / "m.onnx"), None if in_file else spec)
    with pytest.raises(ModelError, match=message):
        Engine(GAME, evaluator)


@pytest.mark.parametrize("one_session", [False, True])
def test_a_wrong_spec_is_refused_on_a_device_before_the_search(
    one_session: bool, tmp_path: Path
) -> None:
    path = tiny(policy_ends=("Softmax", "Abs")).write(tmp_path / "m.onnx")
    model = open_model(path, one_session=one_session)
    evaluator = evaluator_of(model, spec=ModelSpec())
    with pytest.raises(ModelError, match=r"policy: .*\"probs\".*sum to 1"):
        Engine(GAME, evaluator)


@pytest.mark.parametrize("file", bundled_models().values(), ids=bundled_models())
def test_bundled_networks_match_their_specs(file: Path) -> None:
    spec, value = opened(file).spec, read_onnx(file).last_operators["value"]
    assert spec is not None
    assert value == ("Tanh" if spec.value == "scalar" else "Gemm")
