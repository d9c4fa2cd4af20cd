"""The doctor's report on this machine, and its GPU self-test on fake devices.

The devices are the CPU and evaluators that are deliberately wrong, slow or broken.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import _core
from pyengine.base.files import sha256_of
from pyengine.doctor import report
from pyengine.doctor.device import DeviceTest, random_states, rate
from pyengine.doctor.gpu import gpu_self_test, graph_check
from pyengine.eval import Evaluator, runtime
from tiny_models import DEFAULT, TinyModel

SPEC = pyengine.ModelSpec()  # three planes
NO_SEARCH: dict[str, Any] = {"batches": (8,), "seconds": 0.02, "search_batches": ()}
MODEL = TinyModel(planes=(3, 9, 9), actions=81, metadata=DEFAULT)


@pytest.fixture
def game() -> pyengine.Game:
    return pyengine.load_game("gomoku(board_size=9)")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return MODEL.write(tmp_path / "tiny.onnx")


def linear(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the outputs of the tiny network in NumPy."""
    policy, value = MODEL.outputs(planes)
    return policy.astype(np.float32), value.astype(np.float32)[:, 0]


def fast(game: pyengine.Game, device: Evaluator, **settings: Any) -> DeviceTest:
    """Return a test of about a second, by default without requirements on speed."""
    reference = pyengine.CallbackEvaluator(linear, SPEC)
    quick: dict[str, Any] = {
        "positions": 40, "batches": (1, 8, 33), "seconds": 0.02, "search_seconds": 0.1,
        "search_batches": (8,), "least_saturation": 0.0, "least_saturation_of_one_tree": 0.0,
        "least_speedup": 0.0,
    }  # fmt: skip
    return DeviceTest(game=game, device=device, **{"reference": reference, **quick, **settings})


def verdicts(test: DeviceTest, *, searches: bool = False) -> dict[str, str]:
    """Return the verdicts by name."""
    test = test if searches else dataclasses.replace(test, search_batches=())
    return {check.name: check.verdict for check in test.run()}


# --- the device


def test_the_cpu_passes_as_a_device(game: pyengine.Game, model: Path) -> None:
    checks = list(fast(game, pyengine.OnnxEvaluator(model, SPEC, ["cpu"])).run())
    searches = ["search, batch 8, one tree", "search, batch 8, 64 trees"]
    batches = ["batch 1", "batch 8", "batch 33"]
    names = ["outputs", "padding", *batches, "speed-up", *searches]
    assert [check.name for check in checks] == names
    assert {check.verdict for check in checks} == {"PASS"}, "\n".join(map(str, checks))
    json.dumps([dataclasses.asdict(check) for check in checks])
    assert checks[0].data["policy_error"] < 1e-5
    assert checks[4].data["positions_per_second"] > 0
    assert checks[6].data["saturation"] > 0
    assert 1 <= checks[6].data["fill"] <= 8


def altered(change: Callable[..., Any]) -> Evaluator:
    """Return a device that changes the outputs of the network."""
    return pyengine.CallbackEvaluator(lambda planes: change(*linear(planes)), SPEC)


@pytest.mark.parametrize(
    ("change", "outputs", "padding"),
    [
        (lambda policy, value: (policy, np.clip(value + 0.002, -1, 1)), "PASS", "PASS"),
        (lambda policy, value: (policy, np.where(value > 0, value - 0.02, value + 0.02)),
         "FAIL", "PASS"),
        (lambda policy, value: (policy[:, ::-1], value), "FAIL", "PASS"),
        (lambda policy, value: (policy, -value), "FAIL", "PASS"),
        (lambda policy, value: (policy, value if len(value) > 8 else value * 0.5), "PASS", "FAIL"),
    ],
    ids=["within the tolerance", "value off", "policy mirrored", "value of the other player",
         "rows depend on the size of the batch"],
)  # fmt: skip
def test_outputs_and_padding_are_compared(
    game: pyengine.Game, change: Callable[..., Any], outputs: str, padding: str
) -> None:
    results = verdicts(fast(game, altered(change)))
    assert (results["outputs"], results["padding"]) == (outputs, padding)


def test_a_slow_device_and_an_idle_device_fail(game: pyengine.Game) -> None:
    device = pyengine.CallbackEvaluator(linear, SPEC)
    least = {"least_saturation": 1000.0, "least_saturation_of_one_tree": 1000.0}
    results = verdicts(fast(game, device, least_speedup=1e9, **least), searches=True)
    failed = {name for name, verdict in results.items() if verdict == "FAIL"}
    assert failed == {"speed-up", "search, batch 8, one tree", "search, batch 8, 64 trees"}


def test_an_exception_or_nan_of_a_device_is_a_failed_check(game: pyengine.Game) -> None:
    def broken(_policy: np.ndarray, _value: np.ndarray) -> None:
        raise RuntimeError("the fan has stopped")

    devices = {
        "the fan has stopped": altered(broken),
        "": altered(lambda policy, value: (policy, value * np.nan)),
    }
    for words, device in devices.items():
        checks = list(fast(game, device).run())
        assert {check.verdict for check in checks} == {"FAIL", "SKIP"}
        assert all(words in check.detail for check in checks if check.verdict == "FAIL")


def test_a_game_too_small_to_keep_a_device_busy_is_skipped() -> None:
    game = pyengine.load_game("tic_tac_toe")
    device = pyengine.CallbackEvaluator(lambda p: (np.zeros((len(p), 9)), np.zeros(len(p))), SPEC)
    test = fast(game, device, reference=device, batches=(8,), positions=8)
    assert "too small" in list(test.run())[-2].detail


# --- measurements


def test_a_batch_is_one_call_and_each_thread_makes_at_least_one(game: pyengine.Game) -> None:
    sizes: list[int] = []

    def counted(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(planes))
        return linear(planes)

    evaluator, states = pyengine.CallbackEvaluator(counted, SPEC), random_states(game, 300)
    start = time.perf_counter()
    positions_per_second = rate(evaluator, states, callers=2, seconds=0.0)
    assert sizes == [300] * 3  # the first call is not timed
    assert positions_per_second > 600 / (time.perf_counter() - start)


def test_random_states_depend_on_the_seed_and_are_never_terminal(game: pyengine.Game) -> None:
    first, again = random_states(game, 100, seed=3), random_states(game, 100, seed=3)
    assert first == again
    assert not any(state.is_terminal() for state in first)
    assert max(len(state.history()) for state in random_states(game, 50, plies=2)) == 2


# --- the GPU


@pytest.fixture
def no_gpu() -> None:
    """Skip the test if CUDA works on this machine."""
    if runtime.CUDA not in runtime.runtime_report().problems:
        pytest.skip("this machine has a working GPU")


@pytest.mark.usefixtures("no_gpu")
def test_the_gpu_test_can_run_on_the_cpu_and_tests_cuda_graphs_last(
    game: pyengine.Game, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"fast": True, "least_speedup": 0.0, **NO_SEARCH}
    checks = list(gpu_self_test(str(model), game, provider="cpu", **settings))
    assert [check for check in checks if check.verdict == "FAIL"] == []
    names = [check.name for check in checks]
    assert {"ONNX Runtime", "device", "outputs", "speed-up"} <= set(names)
    monkeypatch.setattr(runtime, "CUDA", runtime.CPU)
    with_graphs = gpu_self_test(str(model), game, provider="cpu", **settings)
    assert [check.name for check in with_graphs] == [*names, "CUDA graphs"]  # not opened


def on_device(model: Path, graphs: str, device_id: int = 0) -> Evaluator:
    """Return the network, called in the same way as on a GPU with CUDA graphs."""
    opened = _core.open_onnx(
        model, library=runtime.find_library(), providers=[("cpu", {})], device_id=device_id,
        max_batch=0, threads=0, as_device=True, graphs=graphs,
    )  # fmt: skip
    return Evaluator(_core.onnx_evaluator([opened], SPEC), SPEC)


def test_cuda_graphs_are_compared_with_calls_without_them(game: pyengine.Game, model: Path) -> None:
    plain = pyengine.OnnxEvaluator(model, SPEC, ["cpu"])
    check = graph_check(game, plain, on_device(model, "working"), seconds=0.02)
    assert check.verdict == "PASS"
    assert "times the positions/s in batches of 8" in check.detail
    check = graph_check(game, plain, on_device(model, "refused"), seconds=0.02)
    assert check.verdict == "SKIP"
    assert "without CUDA graphs (this network has no graph)" in check.detail
    other = altered(lambda policy, value: (-policy, value))
    check = graph_check(game, other, on_device(model, "working"), seconds=0.02)
    assert check.verdict == "FAIL"
    assert "change the outputs for 8 positions" in check.detail


def test_cuda_graphs_for_only_some_batch_sizes_are_not_measured(
    game: pyengine.Game, model: Path
) -> None:
    plain = pyengine.OnnxEvaluator(model, SPEC, ["cpu"])
    partly = on_device(model, "working", device_id=5)
    for evaluator in (partly, on_device(model, "uncaptured", device_id=5)):
        with pyengine.Engine(game, evaluator, batch_size=8):
            pass
    check = graph_check(game, plain, partly, seconds=0.02)
    assert check.verdict == "SKIP"
    assert "with CUDA graphs for 1 size of batches, without" in check.detail


def test_a_model_of_an_unknown_game_is_refused_and_a_damaged_model_fails(
    game: pyengine.Game, model: Path, tmp_path: Path
) -> None:
    with pytest.raises(pyengine.ConfigError, match="the game of"):
        list(gpu_self_test(str(model)))
    path = tmp_path / "no.onnx"
    path.write_bytes(b"no model")
    checks = list(gpu_self_test(str(path), game, provider="cpu"))
    assert checks[-2].name == "device"
    assert checks[-2].verdict == "FAIL"
    assert "no.onnx" in checks[-2].detail


# --- the machine


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the doctor skip the bundled networks."""
    monkeypatch.setattr(report, "bundled_models", dict)


def test_the_doctor_passes_on_this_machine() -> None:
    result = pyengine.doctor()
    assert result.ok, str(result)
    assert result.cores >= 1
    assert result.provider in (runtime.CPU, runtime.CUDA)
    assert result.packages["numpy"] == np.__version__
    text = str(result)
    for word in ("would use", "processor", "memory", "ONNX Runtime", "PASS  search"):
        assert word in text
    json.dumps(result.to_dict())
    assert repr(result) == f"DoctorReport(ok=True, provider={result.provider!r}, failed=[])"
    checks = {check.name: check for check in result.checks}
    assert checks[runtime.CPU].verdict == "PASS"
    for name, problem in result.problems.items():
        assert (checks[name].verdict, checks[name].detail) == ("SKIP", report._in_words(problem))


@pytest.mark.usefixtures("quick")
def test_the_problems_of_the_runtime_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = (
        "CUDAExecutionProvider is not available: [ONNXRuntimeError] : 1 : FAIL : Failed to load "
        "library /a/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open "
        "shared object file: No such file or directory"
    )
    runtime_report = dataclasses.replace(
        runtime.runtime_report(),
        reason=reason,
        problems={runtime.CUDA: reason, runtime.TENSORRT: "another reason"},
        warnings=("two packages overwrite each other",),
        version="1.23.2",
    )
    monkeypatch.setattr(runtime, "runtime_report", lambda _device: runtime_report)
    result = pyengine.doctor()
    details = {check.name: check.detail for check in result.checks}
    words = "CUDAExecutionProvider is not available: libcublasLt.so.13 is not installed"
    assert details[runtime.CUDA] == words
    assert details[runtime.TENSORRT] == "another reason"
    assert result.facts()["would use"].endswith(words)
    failed = {check.name for check in result.checks if check.verdict == "FAIL"}
    assert failed == {"ONNX Runtime", "one ONNX Runtime"}
    assert "expected 1.24.1 or later" in details["ONNX Runtime"]
    assert not result.ok


@pytest.mark.usefixtures("quick")
def test_a_search_works_without_onnx_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Path:
        raise pyengine.ModelError("ONNX Runtime is needed to run a network")

    monkeypatch.setattr(runtime, "find_library", absent)
    result = pyengine.doctor()
    by_name = {check.name: check.verdict for check in result.checks}
    assert not result.ok
    assert by_name["ONNX Runtime"] == "FAIL"
    assert by_name["search"] == "PASS"


def test_bundled_models_are_compared_with_the_manifest(
    model: Path, game: pyengine.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = {"good": {"sha256": sha256_of(model)}, "bad": {"sha256": "0" * 64}, "unknown": {}}
    monkeypatch.setattr(report, "bundled_models", lambda: dict.fromkeys(sums, model))
    monkeypatch.setattr(report, "manifest", lambda: sums)
    monkeypatch.setattr(report, "game_of_model", lambda _name: game)
    checks = {check.name: check for check in pyengine.doctor().checks}
    for name, verdict, words in (
        ("good", "PASS", "sha256 matches"),
        ("bad", "FAIL", "damaged"),
        ("unknown", "FAIL", "not in manifest.toml"),
    ):
        assert checks[f"model {name}"].verdict == verdict
        assert words in checks[f"model {name}"].detail
