"""ONNX Runtime: files, tensor types, providers, privacy, the package onnxruntime, fork."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import ConfigError, ModelError, load_game
from pyengine.eval import runtime
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import ModelSpec
from tiny_models import TinyModel

TIC = ModelSpec()  # explicit, because three 3x3 planes are ambiguous


def states() -> list[Any]:
    """Return some states of tic-tac-toe."""
    game = load_game("tic_tac_toe")
    return [game.new_initial_state(moves) for moves in ((), (4,), (0, 4, 8), (2, 1, 0, 8, 5))]


def expected(model: TinyModel) -> tuple[np.ndarray, np.ndarray]:
    """Compute policy and value of the states in NumPy."""
    planes = np.stack([state.observation_tensor() for state in states()])
    logits, value = model.outputs(planes)
    weights = np.exp(logits)
    for row, state in zip(weights, states(), strict=True):
        row[[a for a in range(9) if a not in state.legal_actions()]] = 0
    return weights / weights.sum(1, keepdims=True), value[:, 0]


def check(model: TinyModel, path: Path, atol: float = 1e-5, **options: Any) -> OnnxEvaluator:
    """Write a model, evaluate the states and compare with NumPy."""
    options.setdefault("spec", TIC)
    evaluator = OnnxEvaluator(model.write(path), providers=["cpu"], **options)
    policy, value = evaluator.evaluate(states())
    expected_policy, expected_value = expected(model)
    np.testing.assert_allclose(policy, expected_policy, rtol=0, atol=atol)
    np.testing.assert_allclose(value, expected_value, rtol=0, atol=atol)
    return evaluator


@pytest.mark.parametrize(
    "form",
    [{}, {"batch": 1}, {"batch": 3}, {"batch": 16}, {"flat_input": True}, {"extra_output": True},
     {"declared_policy": ["N", "A"]}, {"int8_input": True}, {"int8_input": True, "batch": 3},
     {"dtype": np.float16}],
    ids=str,
)  # fmt: skip
def test_models_with_any_batch_and_input_evaluate_correctly(
    form: dict[str, Any], tmp_path: Path
) -> None:
    atol = 5e-3 if "dtype" in form else 1e-5
    for options in ({}, {"max_batch": 2}, {"threads": 2}):
        check(TinyModel(**form), tmp_path / "m.onnx", atol, **options)


def test_planes_that_int8_cannot_hold_are_refused(tmp_path: Path) -> None:
    model = TinyModel(planes=(17, 15, 15), actions=225, int8_input=True).write(tmp_path / "m.onnx")
    evaluator = OnnxEvaluator(model, ModelSpec.gomoku17())
    with pytest.raises(ModelError, match=r"'planes' must be .* values other than -1, 0 and 1, got"):
        evaluator.evaluate([load_game("gomoku").new_initial_state()])


def test_tensors_are_selected_by_name_or_by_a_unique_size(tmp_path: Path) -> None:
    check(TinyModel(names=("x", "p", "v")), tmp_path / "m.onnx")
    check(
        TinyModel(names=("x", "p", "v"), extra_output=True),
        tmp_path / "m.onnx",
        spec=ModelSpec(input="x", policy_output="p", value_output="v"),
    )
    two_values = TinyModel(names=("x", "p", "v"), extra_output=True).write(tmp_path / "m.onnx")
    with pytest.raises(ModelError, match=r"one output 'value'.*moves_left"):
        OnnxEvaluator(two_values, TIC).evaluate(states())
    with pytest.raises(ModelError, match=r"no tensor 'q'.*p float32\[N,9\]"):
        OnnxEvaluator(two_values, ModelSpec(policy_output="q")).evaluate(states())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TinyModel(planes=(4, 3, 3)), r"expected input planes float32\[N,3,3,3\].*\[N,4,3,3\]"),
        (TinyModel(planes=(3, 3, 4)), r"expected input .*\[N,3,3,3\].*got .*\[N,3,3,4\]"),
        (TinyModel(actions=10), r"9 numbers .* of output 'policy'.*\[2,10\]"),
        (TinyModel(value_size=3), r"1 numbers .* of output 'value'.*\[2,3\]"),
    ],
)
def test_a_model_that_does_not_fit_the_game_is_refused(
    model: TinyModel, message: str, tmp_path: Path
) -> None:
    evaluator = OnnxEvaluator(model.write(tmp_path / "m.onnx"), TIC)
    with pytest.raises(ModelError, match=message):
        evaluator.evaluate(states())


def test_an_unsupported_tensor_type_is_named(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    path = TinyModel(names=("x", "policy", "value")).write(tmp_path / "m.onnx")
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    model.graph.node[0].input[0] = "floats"
    cast = onnx.helper.make_node("Cast", ["x"], ["floats"], to=onnx.TensorProto.FLOAT)
    model.graph.node.insert(0, cast)
    onnx.save(model, path)
    with pytest.raises(ModelError, match=r"float32, float16 or int8, got x int64\[N,3,3,3\]"):
        OnnxEvaluator(path, TIC).evaluate(states())


def test_files_that_are_not_models_are_refused(tmp_path: Path) -> None:
    whole = TinyModel().write(tmp_path / "m.onnx").read_bytes()
    bad = {"truncated": whole[: len(whole) // 2], "text": b"not a model\n" * 9, "empty": b""}
    for name, content in bad.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
    for name in (*bad, "absent"):
        with pytest.raises(ModelError, match=name):
            OnnxEvaluator(tmp_path / f"{name}.onnx", TIC)
    with pytest.raises(ModelError, match="is not a file"):
        OnnxEvaluator(tmp_path, TIC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return TinyModel().write(tmp_path / "m.onnx")


@pytest.mark.parametrize("name", [runtime.CUDA, runtime.TENSORRT, "Quantum"])
def test_an_unavailable_provider_is_an_error(name: str, path: Path) -> None:
    if name in runtime.runtime_report().available and name not in runtime.runtime_report().problems:
        pytest.skip(f"{name} is available here")
    for providers in ([(name, {})], [name, "cpu"]):
        with pytest.raises(ModelError, match=f"{name}'? is not available: "):
            OnnxEvaluator(path, TIC, providers=providers)


@pytest.mark.parametrize("name", [runtime.CUDA, runtime.TENSORRT])
def test_a_provider_refuses_unknown_options(name: str, path: Path) -> None:
    options: dict[str, object] = {"device_id": 0, "no_such_option": "x"}
    with pytest.raises(ModelError, match=f"{name} is not available: .*ONNX"):
        OnnxEvaluator(path, TIC, providers=[(name, options), "cpu"])


@pytest.mark.skipif(
    runtime.CUDA in runtime.runtime_report().problems, reason="CUDA does not work here"
)
def test_cuda_accepts_its_options(path: Path) -> None:
    options = {"device_id": 0, "cudnn_conv_algo_search": "HEURISTIC"}
    evaluator = OnnxEvaluator(path, TIC, providers=[(runtime.CUDA, options), "cpu"])
    assert evaluator.provider == runtime.CUDA
    np.testing.assert_allclose(evaluator.evaluate(states())[1], expected(TinyModel())[1], atol=1e-3)


def test_the_cpu_accepts_no_options(path: Path) -> None:
    assert OnnxEvaluator(path, TIC, providers=[("cpu", {})]).provider == runtime.CPU
    with pytest.raises(ConfigError, match="takes no options, got 'use_arena'"):
        OnnxEvaluator(path, TIC, providers=[("cpu", {"use_arena": 1})])


@pytest.mark.parametrize(
    "providers",
    [3, [], [None], ["cpu", {}], [("cuda",)], [("cuda", {1: "x"})], {"cuda": {}}],
)
def test_providers_of_a_wrong_type_are_refused(providers: Any, path: Path) -> None:
    with pytest.raises(ConfigError, match="provider"):
        OnnxEvaluator(path, TIC, providers=providers)


def test_the_default_provider_is_the_best_working_one_and_is_logged(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="pyengine"):
        evaluator = OnnxEvaluator(path, TIC)
    assert evaluator.provider in caplog.text
    assert evaluator.provider_reason in caplog.text
    report = runtime.runtime_report()
    assert evaluator.provider == report.provider in report.available
    if runtime.CUDA in report.problems:
        assert "is not available" in evaluator.provider_reason
    assert Path(report.library) == runtime.find_library()
    assert all([report.reason, report.version.startswith("1."), *report.problems.values()])


PREAMBLE = """
import ctypes, sys
from pathlib import Path
import numpy as np
from pyengine import EvaluationError, load_game
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import ModelSpec

state = load_game("tic_tac_toe").new_initial_state()
def evaluate():
    return OnnxEvaluator(sys.argv[1], ModelSpec(), providers=["cpu"]).evaluate([state])
if sys.platform != "win32":
    getenv = ctypes.CDLL(None).getenv  # os.environ does not show changes by C++
    getenv.restype = ctypes.c_char_p
"""


def run_alone(code: str, model: Path, home: Path, **variables: str) -> str:
    """Run code in a new Python process with a given home; return its output."""
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), **variables}
    for name in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"):
        if name not in variables:
            environment.pop(name, None)
    run = subprocess.run(
        [sys.executable, "-c", PREAMBLE + code, str(model)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_written_to_the_home_and_no_socket_is_opened(path: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    code = """
import os, time
def sockets():
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink("/proc/self/fd/" + name))
        except OSError:
            pass
    return sorted(link for link in links if link.startswith("socket:"))
before = sockets()
evaluate()
time.sleep(0.3)
assert sockets() == before, sockets()
assert getenv(b"ORT_DISABLE_TELEMETRY") == b"1"
"""
    run_alone(code, path, home)
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("order", ["before", "after"])
def test_it_works_in_one_process_with_the_package_onnxruntime(
    order: str, path: Path, tmp_path: Path
) -> None:
    ours = "mine = evaluate()[1][0]\n"
    theirs = """
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
def other():
    return session.run(["value"], {"planes": state.observation_tensor()[None]})[0][0, 0]
"""
    code = theirs + ours if order == "before" else ours + theirs
    code += """
for _ in range(3):
    assert abs(other() - mine) < 1e-5
    assert evaluate()[1][0] == mine
if sys.platform == "linux":  # the user's setting is not overwritten
    assert getenv(b"ORT_DISABLE_TELEMETRY") == b"true"
"""
    run_alone(code, path, tmp_path, ORT_DISABLE_TELEMETRY="true")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork_old_evaluators_fail_and_new_ones_work(path: Path, tmp_path: Path) -> None:
    """Covers threads within a call, and CUDA graphs, whose thread the child lacks."""
    code = """
import os, signal
from pyengine import _core
from pyengine.eval import Evaluator, runtime

opened = _core.open_onnx(
    sys.argv[1], library=runtime.find_library(), providers=[("cpu", {})], device_id=0,
    max_batch=0, threads=0, as_device=True, graphs="working",
)
evaluators = [
    OnnxEvaluator(sys.argv[1], ModelSpec(), providers=["cpu"], threads=2),
    Evaluator(_core.onnx_evaluator([opened], ModelSpec()), ModelSpec()),
]
del opened
expected = [evaluator.evaluate([state])[0] for evaluator in evaluators]
child = os.fork()
if child == 0:
    signal.alarm(60)  # a child that hangs is killed
    refused, works = 0, False
    try:
        for evaluator in evaluators:
            try:
                evaluator.evaluate([state])
            except EvaluationError as error:
                refused += "fork" in str(error)
        works = np.array_equal(evaluate()[0], expected[0])
        del evaluators, evaluator
    finally:
        os._exit(0 if refused == 2 and works else 1)
assert os.waitpid(child, 0)[1] == 0
for evaluator, policy in zip(evaluators, expected):
    assert np.array_equal(evaluator.evaluate([state])[0], policy)
"""
    run_alone(code, path, tmp_path)
