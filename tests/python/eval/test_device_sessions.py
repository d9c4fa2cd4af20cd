"""Networks on a simulated GPU: device threads, sessions per batch size, padding.

The CPU stands in for the device; ``pyengine doctor --gpu`` checks what only a real GPU does, such
as page-locked memory.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import Engine, OnnxEvaluator, _core
from pyengine.doctor.device import random_states
from pyengine.eval import Evaluator, providers
from pyengine.eval.evaluators import bundled_models
from simulated_gpu import (
    BUSY,
    GAME,
    SPEC,
    START,
    WAITING,
    evaluator_of,
    on_device,
    open_model,
    tiny,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny().write(tmp_path_factory.mktemp("models") / "m.onnx")


def stats_of(
    evaluator: Evaluator,
    states: list[pyengine.State] | None = None,
    *,
    simulations: int = 1,
    **settings: Any,
) -> dict[str, Any]:
    """Search the start, or some states, with a new engine without a cache; return its stats."""
    with Engine(GAME, evaluator, cache_entries=0, **settings) as engine:
        for result in engine.search_many(states or [START], simulations=simulations):
            assert result.simulations == simulations
        return engine.stats()


def all_in_batches_of(size: int, stats: dict[str, Any]) -> bool:
    return stats["evaluations"] + stats["padding"] == size * stats["batches"]


def assert_close(results: Any, expected: Any) -> None:
    for actual, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, right, atol=1e-6)


DEVICES: dict[str, dict[str, Any]] = {
    "a session per size": {"call_seconds": BUSY},
    "a session per batch": {"call_seconds": WAITING},
    "measured times": {"call_seconds": {}},
    "one session": {"one_session": True},
    "graphs": {"graphs": "working"},
    "graphs and measured times": {"graphs": "working", "call_seconds": {}},
    "graphs refused": {"graphs": "refused"},
    "graphs stale": {"graphs": "stale"},
    "graphs uncopied": {"graphs": "uncopied"},
    "graphs uncaptured": {"graphs": "uncaptured", "device_id": 1},
}


@pytest.mark.parametrize("max_batch", [0, 24])
@pytest.mark.parametrize("settings", DEVICES.values(), ids=DEVICES)
def test_a_device_evaluates_like_the_cpu_at_any_number_of_rows(
    path: Path, max_batch: int, settings: dict[str, Any]
) -> None:
    device = evaluator_of(open_model(path, max_batch=max_batch, **settings))
    cpu = OnnxEvaluator(path, SPEC, providers=["cpu"])
    states = random_states(GAME, 100)
    for rows in (1, 7, 8, 9, 65, 100):
        expected = cpu.evaluate(states[:rows])
        for batch in (8, 100):
            assert_close(device.evaluate(states[:rows], batch_size=batch), expected)


@pytest.mark.parametrize(
    "wrong",
    [{"devices": []}, {"devices": "01"}, {"devices": [1, 1]}, {"devices": [-1]}, {"devices": 0},
     {"device_id": 1, "devices": [0]}],
)  # fmt: skip
def test_devices_must_be_different_gpus(path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(pyengine.ConfigError, match="device"):
        OnnxEvaluator(path, SPEC, **wrong)


def test_a_device_that_is_no_gpu_is_refused(path: Path) -> None:
    with pytest.raises(pyengine.ModelError, match=r"expected the GPU 0, got the CPU"):
        OnnxEvaluator(path, SPEC, providers=["cpu"], devices=[0, 1])


@pytest.mark.parametrize("one_session", [False, True])
def test_a_fixed_batch_is_the_only_size(one_session: bool, tmp_path: Path) -> None:
    fixed = tiny(batch=4).write(tmp_path / "m.onnx")
    states = random_states(GAME, 11)
    expected = OnnxEvaluator(fixed, SPEC, providers=["cpu"]).evaluate(states)
    model = open_model(fixed, one_session=one_session)
    assert_close(evaluator_of(model).evaluate(states), expected)
    assert model.sessions == 1


def test_any_batch_sizes_need_few_sessions(path: Path) -> None:
    model = open_model(path)
    device = evaluator_of(model)
    states = random_states(GAME, 100)
    for count in (*range(1, 66), 99):
        device.evaluate(states[:count])
    assert model.sessions == 7  # 1, 2, 4, 8, 16, 32, 64
    for batch_size in range(1, 100):
        device.evaluate(states, batch_size=batch_size)
    assert model.sessions == 7 + 1 + 8  # 128, and the limit of 8 exact sizes


def test_the_first_session_serves_the_largest_size(path: Path) -> None:
    model = open_model(path)
    stats_of(evaluator_of(model), simulations=100, batch_size=64)
    assert model.sessions == 4  # 64, 32, 16, 8
    with Engine(GAME, evaluator_of(model), batch_size=32):
        assert model.sessions == 4  # no session to inspect the outputs again


def test_a_size_as_slow_as_the_next_larger_one_has_no_session(path: Path) -> None:
    model = open_model(path, call_seconds={64: 9e-3, 32: 5e-3, 16: 4.9e-3, 8: 1e-3})
    stats = stats_of(evaluator_of(model), batch_size=64)
    assert stats["padding"] == 7 * stats["evaluations"]
    assert model.sessions == 3  # the session of 16 rows was closed
    with Engine(GAME, evaluator_of(model), batch_size=16):
        assert model.sessions == 4  # 16 is the batch size again; 8 exists


def test_engines_opened_concurrently_agree_on_the_sizes(path: Path) -> None:
    """Each size is timed once, and all batches are padded in the same way."""
    for call_seconds in ({}, BUSY):
        model = open_model(path, call_seconds=call_seconds)
        device = evaluator_of(model)

        def padding_of(states: list[pyengine.State], device: Evaluator = device) -> float:
            with Engine(GAME, device, batch_size=64, cache_entries=0, solver=False) as engine:
                engine.search(states[0], simulations=1)
                stats = engine.stats()
                engine.search_many(states, simulations=50)
                return stats["padding"] / stats["batches"]

        states = random_states(GAME, 16, plies=4)
        with ThreadPoolExecutor(4) as pool:
            paddings = list(pool.map(padding_of, [states] * 4))
        assert len(set(paddings)) == 1, paddings
        size = int(paddings[0]) + 1  # one real row
        sessions = {64: 1, 32: 2, 16: 3, 8: 4}[size]
        # Measured times may end the trials one size earlier or later.
        assert model.sessions == sessions or (not call_seconds and model.sessions <= 4)


@pytest.mark.parametrize("call_seconds", [BUSY, WAITING])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_deterministic_search_does_not_depend_on_measured_times(
    path: Path, call_seconds: dict[int, float], mixed: bool
) -> None:
    """All batches have one size, since the last bits of an output may depend on the rows."""
    evaluator = evaluator_of(open_model(path, call_seconds=call_seconds))
    if mixed:
        evaluator = pyengine.MixedEvaluator(evaluator, pyengine.RolloutEvaluator())
    stats = stats_of(evaluator, simulations=100, batch_size=64, deterministic=True)
    assert all_in_batches_of(64, stats)


def test_devices_of_different_speed_evaluate_alike(path: Path) -> None:
    models = [open_model(path), open_model(path, call_seconds=WAITING)]
    states = random_states(GAME, 100)
    device = evaluator_of(*models)
    expected = OnnxEvaluator(path, SPEC, providers=["cpu"]).evaluate(states)
    for rows in (100, 3, 40, 9):
        result = device.evaluate(states[:rows], batch_size=64)
        assert_close(result, [output[:rows] for output in expected])
    assert [model.sessions for model in models] == [5, 3]  # batches of 64, 4 and 16 rows


@pytest.mark.parametrize(
    ("graphs", "ending"),
    [
        ("", ""),
        ("working", " with CUDA graphs"),
        ("refused", " without CUDA graphs (this network has no graph)"),
        ("stale", " without CUDA graphs (a replayed graph gives other answers than the network)"),
    ],
)
def test_an_engine_reports_whether_it_replays_graphs(
    path: Path, graphs: str, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    providers._log_once.cache_clear()
    provider = f"CPUExecutionProvider{ending}"
    model = open_model(path, graphs=graphs)
    device, states = evaluator_of(model), random_states(GAME, 16, plies=4)
    with caplog.at_level(logging.WARNING, logger="pyengine"):
        for _ in range(2):
            stats = stats_of(device, states, simulations=100, batch_size=64)
            assert stats["provider"] == model.provider_text == provider
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ([f"the network runs on {provider}"] if "without" in provider else [])
    assert model.sessions == (5 if graphs == "stale" else 4)  # the first one is discarded


def test_a_failed_capture_disables_graphs_on_the_device(path: Path, tmp_path: Path) -> None:
    """A failed capture leaves a session open; other failures do not affect other models."""

    def provider_of(model: _core.OnnxModel) -> str:
        stats_of(evaluator_of(model), simulations=20, batch_size=16)
        return model.provider_text

    def opened(graphs: str, device_id: int = 2) -> str:
        return provider_of(open_model(path, graphs=graphs, device_id=device_id))

    other = tiny().write(tmp_path / "other.onnx")
    opened_before = open_model(other, graphs="working", device_id=2)
    assert opened("uncopied").endswith("without CUDA graphs (the device rejects copies)")
    assert opened("working").endswith("with CUDA graphs")
    assert opened("uncaptured").endswith("without CUDA graphs (the capture failed)")
    for provider in (provider_of(opened_before), opened("working")):
        assert "without CUDA graphs (a capture failed on this device before" in provider
    assert opened("working", device_id=3).endswith("with CUDA graphs")


def test_the_provider_text_names_the_sizes_and_devices_with_graphs(path: Path) -> None:
    model = open_model(path, graphs="working", device_id=4)
    with Engine(GAME, evaluator_of(model), batch_size=16):
        assert model.provider_text == "CPUExecutionProvider with CUDA graphs"
    failing = open_model(path, graphs="uncaptured", device_id=4)
    with Engine(GAME, evaluator_of(failing), batch_size=16):
        pass
    with Engine(GAME, evaluator_of(model), batch_size=32):
        assert "with CUDA graphs for 2 sizes of batches, without" in model.provider_text
    models = [open_model(path, graphs=graphs) for graphs in ("working", "refused", "working")]
    with Engine(GAME, evaluator_of(*models), batch_size=8) as engine:
        assert engine.stats()["provider"] == (
            "CPUExecutionProvider with CUDA graphs, "
            "CPUExecutionProvider without CUDA graphs (this network has no graph)"
        )


def test_a_second_board_of_a_network_opens_no_extra_session() -> None:
    name = "gomoku"
    model = open_model(bundled_models()[name], call_seconds=WAITING, graphs="working")
    device = evaluator_of(model, spec=OnnxEvaluator(name).spec)
    for count, size in enumerate((9, 7), start=1):
        game = pyengine.load_game("gomoku", board_size=size)
        with Engine(game, device, batch_size=16):
            assert model.sessions == count
    assert model.provider_text == "CPUExecutionProvider with CUDA graphs"


def test_one_session_serves_batches_of_all_sizes(path: Path) -> None:
    """TensorRT builds an engine per session, which takes minutes."""
    model = open_model(path, one_session=True)
    device = evaluator_of(model)
    assert model.sessions == 1  # before the game and the batch are known
    states = random_states(GAME, 64)
    for count in (1, 3, 64):
        device.evaluate(states[:count])
    for batch_size in (1, 24, 64):
        stats_of(device, states[:8], simulations=20, batch_size=batch_size)
    assert model.sessions == 2
    with Engine(GAME, device, batch_size=65):
        assert model.sessions == 3
    with Engine(GAME, device, batch_size=128):  # the capacity of the last session
        assert model.sessions == 3


def test_one_session_without_shape_profiles_uses_one_size(tmp_path: Path) -> None:
    named = tiny(names=("planes:0", "policy", "value"))
    model = open_model(named.write(tmp_path / "m.onnx"), one_session=True)
    assert all_in_batches_of(24, stats_of(evaluator_of(model), batch_size=24))
    assert model.sessions == 2


def test_one_session_refuses_outputs_that_do_not_fit(tmp_path: Path) -> None:
    wrong = tiny(actions=8).write(tmp_path / "m.onnx")
    device = evaluator_of(open_model(wrong, one_session=True))
    for _ in range(2):
        with pytest.raises(pyengine.ModelError, match="7 numbers per row of output 'policy'"):
            Engine(GAME, device)


def test_searches_of_several_networks_share_the_device(path: Path, tmp_path: Path) -> None:
    """Opening needs the device exclusively, batches share it: they must not deadlock."""
    other = tiny().write(tmp_path / "other.onnx")
    states = random_states(GAME, 16, plies=4)

    def search(file: Path) -> None:
        for batch in (4, 16, 32):
            stats_of(on_device(file), states, simulations=60, batch_size=batch)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(search, (path, other, path), timeout=120))


def test_a_network_that_failed_on_the_device_can_be_called_again(tmp_path: Path) -> None:
    bad = tiny(nan="value").write(tmp_path / "nan.onnx")
    device = on_device(bad)
    for _ in range(2):
        with pytest.raises(pyengine.EvaluationError, match="value must be finite"):
            device.evaluate(random_states(GAME, 3))


@pytest.mark.parametrize("threads", [1, 4])
def test_a_search_that_needs_no_network_does_not_block_others(path: Path, threads: int) -> None:
    """On a board with one free column every simulation ends in a terminal position."""
    full = GAME.new_initial_state([*map(int, "010110100110232332322332454554544554")])
    assert full.legal_actions() == [6]
    with Engine(GAME, on_device(path), batch_size=16, threads=threads, solver=False) as engine:
        _, beside = engine.search_many([full, GAME.new_initial_state()], seconds=0.3)
    assert beside.simulations > 40  # about 10 if its batches were never submitted
