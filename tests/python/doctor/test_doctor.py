"""The doctor: what it says of this machine, and the self-test of a GPU without one.

The CPU poses as the device, and so do evaluators that are wrong, slow or broken on purpose.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import _core
from pyengine.base.files import sha256_of
from pyengine.doctor import report
from pyengine.doctor.checks import Check
from pyengine.doctor.cuda_graphs import graph_check
from pyengine.doctor.device import DeviceTest, random_states, rate
from pyengine.doctor.gpu import gpu_self_test
from pyengine.eval import runtime
from tiny_models import DEFAULT, TinyModel

SPEC = pyengine.ModelSpec()  # three planes
MODEL = TinyModel(planes=(3, 9, 9), actions=81, metadata=DEFAULT)


@pytest.fixture
def game() -> pyengine.Game:
    return pyengine.load_game("gomoku(board_size=9)")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return MODEL.write(tmp_path / "tiny.onnx")


def linear(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute what the tiny network computes, in NumPy."""
    policy, value = MODEL.outputs(planes)
    return policy.astype(np.float32), value.astype(np.float32)[:, 0]


def fast(game: pyengine.Game, device: pyengine.Evaluator, **settings: Any) -> DeviceTest:
    """Return a test of a second that asks nothing of the speed, unless told."""
    test = DeviceTest(
        game=game,
        device=device,
        reference=pyengine.CallbackEvaluator(linear, SPEC),
        positions=40,
        batches=(1, 8, 33),
        seconds=0.02,
        search_seconds=0.1,
        search_batches=(8,),
        callers=(1, 2),
        least_saturation=0.0,
        least_saturation_of_one_tree=0.0,
        least_speedup=0.0,
    )
    return dataclasses.replace(test, **settings)


def verdicts(checks: Iterator[Check]) -> dict[str, str]:
    """Return the verdict of each line by its name."""
    return {check.name: check.verdict for check in checks}


# --- the device ----------------------------------------------------------------------------------


def test_the_cpu_passes_as_a_device(game: pyengine.Game, model: Path) -> None:
    checks = list(fast(game, pyengine.OnnxEvaluator(model, SPEC, ["cpu"])).run())
    assert [check.name for check in checks] == [
        "outputs",
        "padding",
        "batch 1",
        "batch 8",
        "batch 33",
        "speed-up",
        "search, batch 8, one tree",
        "search, batch 8, 64 trees",
    ]
    assert {check.verdict for check in checks} == {"PASS"}, "\n".join(map(str, checks))
    json.dumps([check.to_dict() for check in checks])
    assert checks[0].data["policy_error"] < 1e-5
    assert checks[4].data["positions_per_second"] > 0
    assert checks[6].data["saturation"] > 0
    assert 1 <= checks[6].data["fill"] <= 8


@pytest.mark.parametrize(
    "wrong",
    [
        lambda policy, value: (policy, np.where(value > 0, value - 0.02, value + 0.02)),
        lambda policy, value: (policy[:, ::-1], value),
        lambda policy, value: (policy, -value),
    ],
    ids=["value off", "policy mirrored", "value of the other player"],
)
def test_wrong_outputs_fail(game: pyengine.Game, wrong: Callable[..., Any]) -> None:
    device = pyengine.CallbackEvaluator(lambda planes: wrong(*linear(planes)), SPEC)
    found = verdicts(fast(game, device).run())
    assert found["outputs"] == "FAIL"
    assert found["padding"] == "PASS"


def test_outputs_within_the_tolerance_pass(game: pyengine.Game) -> None:
    def nearly(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policy, value = linear(planes)
        return policy, np.clip(value + 0.002, -1, 1)

    device = pyengine.CallbackEvaluator(nearly, SPEC)
    assert verdicts(fast(game, device).run())["outputs"] == "PASS"
    assert verdicts(fast(game, device, tolerance=1e-3).run())["outputs"] == "FAIL"


def test_rows_that_depend_on_their_number_fail(game: pyengine.Game) -> None:
    def leaky(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policy, value = linear(planes)
        return policy, value if len(planes) > 8 else value * 0.5

    found = verdicts(fast(game, pyengine.CallbackEvaluator(leaky, SPEC)).run())
    assert found["padding"] == "FAIL"


def test_a_rate_needs_a_batch_even_where_there_is_no_time(game: pyengine.Game) -> None:
    device = pyengine.CallbackEvaluator(linear, SPEC)
    assert rate(device, [game.new_initial_state()], callers=2, seconds=0.0) > 0


def test_a_device_slower_than_asked_fails(game: pyengine.Game) -> None:
    device = pyengine.CallbackEvaluator(linear, SPEC)
    found = verdicts(fast(game, device, least_speedup=1e9).run())  # on a loaded machine as well
    assert found["speed-up"] == "FAIL"
    assert found["outputs"] == "PASS"
    assert verdicts(fast(game, device, least_speedup=0.0).run())["speed-up"] == "PASS"


def test_a_search_that_leaves_the_device_idle_fails(game: pyengine.Game) -> None:
    device = pyengine.CallbackEvaluator(linear, SPEC)
    checks = list(
        fast(game, device, least_saturation=1000.0, least_saturation_of_one_tree=1000.0).run()
    )
    assert [check.verdict for check in checks[-2:]] == ["FAIL", "FAIL"]
    assert "expected 100000%" in checks[-1].detail


def test_a_device_that_breaks_is_a_line_and_no_exception(game: pyengine.Game) -> None:
    def broken(_planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise RuntimeError("the fan stands still")

    checks = list(fast(game, pyengine.CallbackEvaluator(broken, SPEC)).run())
    assert all(check.verdict in ("FAIL", "SKIP") for check in checks)
    assert all("the fan stands still" in c.detail for c in checks if c.verdict == "FAIL")


def test_outputs_that_are_no_numbers_fail(game: pyengine.Game) -> None:
    def nan(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policy, value = linear(planes)
        return policy, value * np.nan

    assert set(verdicts(fast(game, pyengine.CallbackEvaluator(nan, SPEC)).run()).values()) <= {
        "FAIL",
        "SKIP",
    }


def test_a_game_too_small_to_keep_a_device_busy_is_skipped() -> None:
    game = pyengine.load_game("tic_tac_toe")
    device = pyengine.CallbackEvaluator(lambda p: (np.zeros((len(p), 9)), np.zeros(len(p))), SPEC)
    test = fast(game, device, search_seconds=0.3, batches=(8,), positions=8)
    assert "too small" in list(dataclasses.replace(test, reference=device).run())[-2].detail


# --- what is measured ----------------------------------------------------------------------------


def test_a_batch_is_one_call_of_the_network(game: pyengine.Game) -> None:
    sizes: list[int] = []

    def counted(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(planes))
        return linear(planes)

    states = random_states(game, 300)
    assert rate(pyengine.CallbackEvaluator(counted, SPEC), states, 2, 0.05) > 0
    assert set(sizes) == {300}


def test_a_rate_is_positions_by_time(game: pyengine.Game) -> None:
    def timed(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time.sleep(0.02)
        return linear(planes)

    found = rate(pyengine.CallbackEvaluator(timed, SPEC), random_states(game, 10), 1, 0.2)
    assert 50 < found <= 500


def test_random_states_are_the_same_for_a_seed_and_never_terminal(game: pyengine.Game) -> None:
    first, again = random_states(game, 100, seed=3), random_states(game, 100, seed=3)
    assert first == again
    assert not any(state.is_terminal() for state in first)
    assert max(len(state.history()) for state in random_states(game, 50, plies=2)) == 2


# --- the GPU -------------------------------------------------------------------------------------


def test_without_a_gpu_it_says_why_in_the_words_of_onnx_runtime(
    game: pyengine.Game, model: Path
) -> None:
    problem = runtime.runtime_report().problems.get(runtime.CUDA)
    if problem is None:
        pytest.skip("this machine has a GPU that works")
    checks = list(gpu_self_test(str(model), game, spec=SPEC, fast=True))
    by_name = {check.name: check for check in checks}
    assert by_name[runtime.CUDA].verdict == "FAIL"
    assert by_name[runtime.CUDA].detail == problem
    assert by_name["device"].verdict == "FAIL"
    assert checks[-1].verdict == "SKIP"


def test_the_lines_of_a_gpu_can_be_seen_on_the_cpu(game: pyengine.Game, model: Path) -> None:
    checks = list(
        gpu_self_test(
            str(model), game, provider="cpu", spec=SPEC, fast=True,
            least_saturation=0.0, least_saturation_of_one_tree=0.0, least_speedup=0.0,
        )
    )  # fmt: skip
    assert [check for check in checks if check.verdict == "FAIL"] == []
    assert {"ONNX Runtime", "device", "outputs", "speed-up"} <= {check.name for check in checks}


def test_cuda_graphs_are_tried_after_all_else(
    game: pyengine.Game, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if runtime.runtime_report().problems.get(runtime.CUDA) is None:
        pytest.skip("this machine has a GPU that works")
    monkeypatch.setattr(runtime, "CUDA", runtime.CPU)
    checks = list(gpu_self_test(str(model), game, provider="cpu", spec=SPEC, fast=True))
    names = [check.name for check in checks]
    assert names.count("device") == 2  # the processor's, and CUDA's, which cannot be opened
    assert names[-1] == "device"
    assert names.index("outputs") < len(names) - 1


def on_device(model: Path, graphs: str, device_id: int = 0) -> pyengine.Evaluator:
    """Return the network called as a GPU with CUDA graphs is."""
    opened = _core.open_onnx(
        model, library=runtime.find_library(), providers=[("cpu", {})], device_id=device_id,
        max_batch=0, threads=0, as_device=True, graphs=graphs,
    )  # fmt: skip
    return pyengine.Evaluator(_core.onnx_evaluator([opened], SPEC), SPEC)


def test_cuda_graphs_are_compared_with_calls_without_them(game: pyengine.Game, model: Path) -> None:
    plain = pyengine.OnnxEvaluator(model, SPEC, ["cpu"])
    found = graph_check(game, plain, on_device(model, "working"), seconds=0.02)
    assert found.verdict == "PASS"
    assert "times as many positions/s in batches of 8" in found.detail
    found = graph_check(game, plain, on_device(model, "refused"), seconds=0.02)
    assert found.verdict == "SKIP"
    assert "without CUDA graphs (this network has no graph)" in found.detail
    other = pyengine.CallbackEvaluator(lambda planes: (-linear(planes)[0], linear(planes)[1]), SPEC)
    found = graph_check(game, other, on_device(model, "working"), seconds=0.02)
    assert found.verdict == "FAIL"
    assert "change the answers to 8 positions" in found.detail


def test_cuda_graphs_of_some_sizes_are_not_measured_as_those_of_all(
    game: pyengine.Game, model: Path
) -> None:
    plain = pyengine.OnnxEvaluator(model, SPEC, ["cpu"])
    partly = on_device(model, "working", device_id=5)
    for evaluator in (partly, on_device(model, "uncaptured", device_id=5)):
        with pyengine.Engine(game, evaluator, batch_size=8):
            pass
    found = graph_check(game, plain, partly, seconds=0.02)
    assert found.verdict == "SKIP"
    assert "with CUDA graphs for 1 size of batches, without" in found.detail


def test_a_model_whose_game_is_unknown_is_refused(model: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="the game of"):
        list(gpu_self_test(str(model)))


def test_a_file_that_is_no_model_is_a_line(game: pyengine.Game, tmp_path: Path) -> None:
    path = tmp_path / "no.onnx"
    path.write_bytes(b"no model")
    checks = list(gpu_self_test(str(path), game, provider="cpu"))
    assert checks[-2].name == "device"
    assert checks[-2].verdict == "FAIL"
    assert "no.onnx" in checks[-2].detail


# --- the machine ---------------------------------------------------------------------------------


def test_the_doctor_finds_this_machine_well() -> None:
    found = pyengine.doctor()
    assert found.ok, str(found)
    assert found.cores >= 1
    assert found.provider in (runtime.CPU, runtime.CUDA)
    assert found.packages["numpy"] == np.__version__
    text = str(found)
    for word in ("would use", "processor", "memory", "ONNX Runtime", "PASS  search"):
        assert word in text
    json.dumps(found.to_dict())
    assert repr(found) == f"DoctorReport(ok=True, provider={found.provider!r}, failed=[])"


def test_providers_that_do_not_work_are_listed_with_the_reason() -> None:
    checks = {check.name: check for check in pyengine.doctor().checks}
    assert checks[runtime.CPU].verdict == "PASS"
    for name, problem in runtime.runtime_report().problems.items():
        assert checks[name].verdict == "SKIP"
        assert checks[name].detail == report._in_words(problem)


def test_a_library_that_is_not_there_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        "CUDAExecutionProvider cannot be had: [ONNXRuntimeError] : 1 : FAIL : Failed to load "
        "library /a/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open "
        "shared object file: No such file or directory"
    )
    problems = {runtime.CUDA: said, runtime.TENSORRT: "another reason"}
    found = dataclasses.replace(runtime.runtime_report(), reason=said, problems=problems)
    monkeypatch.setattr(runtime, "runtime_report", lambda _device: found)
    examined = pyengine.doctor()
    details = {check.name: check.detail for check in examined.checks}
    words = "CUDAExecutionProvider cannot be had: libcublasLt.so.13 is not installed"
    assert details[runtime.CUDA] == words
    assert details[runtime.TENSORRT] == "another reason"
    assert examined.facts()["would use"].endswith(words)


def test_what_the_runtime_warns_of_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    found = dataclasses.replace(
        runtime.runtime_report(), warnings=("two packages overwrite each other",)
    )
    monkeypatch.setattr(runtime, "runtime_report", lambda _device: found)
    examined = pyengine.doctor()
    assert not examined.ok
    assert any("overwrite each other" in check.detail for check in examined.checks)


def test_an_onnx_runtime_that_reads_any_file_as_weights_fails() -> None:
    old = dataclasses.replace(runtime.runtime_report(), version="1.23.2")
    first = next(report.runtime_checks(old))
    assert (first.name, first.verdict) == ("ONNX Runtime", "FAIL")
    assert "expected 1.24.1 or later" in first.detail


def test_no_onnx_runtime_fails_and_the_search_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Path:
        raise pyengine.ModelError("ONNX Runtime is needed to run a network")

    monkeypatch.setattr(runtime, "find_library", absent)
    found = pyengine.doctor()
    by_name = {check.name: check.verdict for check in found.checks}
    assert not found.ok
    assert by_name["ONNX Runtime"] == "FAIL"
    assert by_name["search"] == "PASS"


@pytest.mark.parametrize(
    ("sums", "verdict", "words"),
    [
        (lambda right: {"sha256": right}, "PASS", "sha256 is right"),
        (lambda _right: {"sha256": "0" * 64}, "FAIL", "damaged"),
        (lambda _right: {}, "FAIL", "not in manifest.toml"),
    ],
)
def test_bundled_models_are_compared_with_the_manifest(
    model: Path,
    game: pyengine.Game,
    monkeypatch: pytest.MonkeyPatch,
    sums: Callable[[str], dict[str, str]],
    verdict: str,
    words: str,
) -> None:
    monkeypatch.setattr(report, "bundled_models", lambda: {"tiny": model})
    monkeypatch.setattr(report, "manifest", lambda: {"tiny": sums(sha256_of(model))})
    monkeypatch.setattr(report, "game_of_model", lambda _name: game)
    check = {check.name: check for check in pyengine.doctor().checks}["model tiny"]
    assert check.verdict == verdict
    assert words in check.detail
