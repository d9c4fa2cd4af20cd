"""Networks called as on a GPU: device threads, a session for a size of batches, sizes padded.

The CPU poses as the device; what only a GPU does (page-locked memory, its own errors) is seen by
``pyengine doctor --gpu``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import Engine, Evaluator, ModelSpec, OnnxEvaluator, _core
from pyengine.doctor.device import random_states
from pyengine.eval import providers, runtime
from pyengine.eval.evaluators import bundled_models
from tiny_models import TinyModel

SPEC = ModelSpec(planes=("own[0]", "opp[0]", "ones"), policy="logits", value="scalar")
GAME = pyengine.load_game("connect_four")
PLANES = (3, 6, 7)
#: Seconds of a call by its rows where these take the time: a size is worth half the next larger.
BUSY = {rows: 1e-3 * rows for rows in range(1, 257)}
#: Where a call costs the same, however few its rows.
WAITING = dict.fromkeys(range(1, 257), 1e-3)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = TinyModel(planes=PLANES, actions=7)
    return model.write(tmp_path_factory.mktemp("models") / "m.onnx")


def open_model(
    path: Path,
    *,
    one_session: bool = False,
    max_batch: int = 0,
    call_seconds: dict[int, float] = BUSY,
    graphs: str = "",
    device_id: int = 0,
) -> _core.OnnxModel:
    """Open a file as on a GPU; with one session for all batches, as TensorRT has it."""
    return _core.open_onnx(
        path, library=runtime.find_library(), providers=[("cpu", {})], device_id=device_id,
        max_batch=max_batch, threads=0, as_device=True, one_session=one_session,
        call_seconds=call_seconds, graphs=graphs,
    )  # fmt: skip


def evaluator_of(*models: _core.OnnxModel) -> Evaluator:
    return Evaluator(_core.onnx_evaluator(models, SPEC), SPEC)


def on_device(path: Path, max_batch: int = 0) -> Evaluator:
    """Return the network of a file, called as a GPU's would be."""
    return evaluator_of(open_model(path, max_batch=max_batch))


@pytest.mark.parametrize("max_batch", [0, 24])
@pytest.mark.parametrize(
    "settings",
    [
        {"call_seconds": BUSY},
        {"call_seconds": WAITING},
        {"call_seconds": {}},
        {"one_session": True},
        {"graphs": "working"},
        {"graphs": "working", "call_seconds": {}},
        {"graphs": "refused"},
        {"graphs": "stale"},
        {"graphs": "uncopied"},
        {"graphs": "uncaptured", "device_id": 1},
    ],
    ids=[
        "a session a size",
        "a session a batch",
        "as measured",
        "one session",
        "graphs",
        "graphs as measured",
        "graphs refused",
        "graphs stale",
        "graphs uncopied",
        "graphs uncaptured",
    ],
)
def test_a_device_evaluates_as_the_cpu_does_at_any_number_of_rows(
    path: Path, max_batch: int, settings: dict[str, Any]
) -> None:
    device = evaluator_of(open_model(path, max_batch=max_batch, **settings))
    cpu = OnnxEvaluator(path, SPEC, providers=["cpu"])
    states = random_states(GAME, 100)
    for rows in (1, 7, 8, 9, 65, 100):
        for batch in (8, 100):
            got = device.evaluate(states[:rows], batch_size=batch)
            for found, expected in zip(got, cpu.evaluate(states[:rows]), strict=True):
                np.testing.assert_allclose(found, expected, atol=1e-6)


def test_several_devices_evaluate_as_one_does(path: Path) -> None:
    models = [open_model(path), open_model(path, device_id=1)]
    states = random_states(GAME, 100)
    settings = {"batch_size": 8, "cache_entries": 0, "solver": False}
    with Engine(GAME, evaluator_of(*models), **settings) as engine:
        found = engine.search_many(states, simulations=20)
    with Engine(GAME, on_device(path), **settings) as engine:
        expected = engine.search_many(states, simulations=20)
    assert [one.simulations for one in found] == [20] * 100
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.priors, other.priors, atol=1e-6)
    assert models[0].sessions == models[1].sessions == 1  # of 8 rows, opened before the search


def test_several_devices_are_gpus_and_differ(path: Path) -> None:
    with pytest.raises(pyengine.ModelError, match=r"expected the GPU 0, got the CPU"):
        OnnxEvaluator(path, SPEC, providers=["cpu"], devices=[0, 1])
    for wrong, message in [
        ([], "devices: expected"),
        ("01", "devices: expected"),
        ([1, 1], "different GPUs"),
        ([-1], "at least 0, got -1"),
        (0, "devices: expected"),
    ]:
        with pytest.raises(pyengine.ConfigError, match=message):
            OnnxEvaluator(path, SPEC, devices=wrong)  # type: ignore[arg-type]
    with pytest.raises(pyengine.ConfigError, match="device_id or devices"):
        OnnxEvaluator(path, SPEC, device_id=1, devices=[0])


def test_batches_are_padded_to_few_sizes(path: Path) -> None:
    with Engine(GAME, on_device(path), batch_size=64, cache_entries=0) as engine:
        engine.search(GAME.new_initial_state(), simulations=1)
        stats = engine.stats()
        assert stats["evaluations"] == stats["batches"]  # the smallest has 8 rows
        assert stats["padding"] == 7 * stats["batches"]
    with Engine(GAME, on_device(path), batch_size=1, cache_entries=0) as engine:
        engine.search(GAME.new_initial_state(), simulations=50)
        assert engine.stats()["padding"] == 0


@pytest.mark.parametrize("one_session", [False, True])
def test_a_fixed_batch_is_the_only_size(one_session: bool, tmp_path: Path) -> None:
    fixed = TinyModel(planes=PLANES, actions=7, batch=4).write(tmp_path / "m.onnx")
    states = random_states(GAME, 11)
    expected = OnnxEvaluator(fixed, SPEC, providers=["cpu"]).evaluate(states)
    model = open_model(fixed, one_session=one_session)
    for found, right in zip(evaluator_of(model).evaluate(states), expected, strict=True):
        np.testing.assert_allclose(found, right, atol=1e-6)
    assert model.sessions == 1


def test_a_batch_that_is_no_power_of_two_is_not_padded(path: Path) -> None:
    states = random_states(GAME, 24, plies=4)
    with Engine(GAME, on_device(path), batch_size=24, cache_entries=0, threads=1) as engine:
        engine.search_many(states, simulations=1)
        stats = engine.stats()
    assert (stats["evaluations"], stats["padding"]) == (48, 0)  # each root and a child of it


def test_sessions_are_few_whatever_the_sizes_of_batches(path: Path) -> None:
    model = open_model(path)
    device = evaluator_of(model)
    states = random_states(GAME, 100)
    for count in (*range(1, 66), 99):
        device.evaluate(states[:count])
    assert model.sessions == 7  # 1, 2, 4, 8, 16, 32, 64
    for batch_size in range(1, 100):
        device.evaluate(states, batch_size=batch_size)
    assert model.sessions == 7 + 1 + 8  # 128, and as many others as may have their own


def test_the_first_session_serves_the_largest_size(path: Path) -> None:
    model = open_model(path)
    with Engine(GAME, evaluator_of(model), batch_size=64) as engine:
        engine.search(GAME.new_initial_state(), simulations=100)
        assert model.sessions == 4  # 64, 32, 16, 8
    with Engine(GAME, evaluator_of(model), batch_size=32):
        assert model.sessions == 4  # and none to look at the outputs again


def test_a_size_as_slow_as_the_next_larger_has_no_session(path: Path) -> None:
    model = open_model(path, call_seconds={64: 9e-3, 32: 5e-3, 16: 4.9e-3, 8: 1e-3})
    with Engine(GAME, evaluator_of(model), batch_size=64, cache_entries=0) as engine:
        engine.search(GAME.new_initial_state(), simulations=1)
        stats = engine.stats()
        assert stats["evaluations"] == stats["batches"]
        assert stats["padding"] == 7 * stats["batches"]
    assert model.sessions == 3  # that of 16 rows was closed
    with Engine(GAME, evaluator_of(model), batch_size=16):
        assert model.sessions == 4  # a batch has its own size; that of 8 rows is there


def test_batches_have_one_size_where_fewer_rows_are_no_faster(path: Path) -> None:
    model = open_model(path, call_seconds=WAITING)
    with Engine(GAME, evaluator_of(model), batch_size=64, cache_entries=0) as engine:
        engine.search_many(random_states(GAME, 8), simulations=200)
        stats = engine.stats()
    assert stats["evaluations"] + stats["padding"] == 64 * stats["batches"]
    assert model.sessions == 1


def test_engines_that_open_at_once_agree_on_the_sizes(path: Path) -> None:
    """Each size is timed once, whoever comes first, and every batch is padded alike."""
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
        size = int(paddings[0]) + 1  # of one row
        sessions = {64: 1, 32: 2, 16: 3, 8: 4}[size]
        # Real times (no call_seconds) may end the trials one size earlier or later.
        assert model.sessions == sessions or (not call_seconds and model.sessions <= 4)


@pytest.mark.parametrize("call_seconds", [BUSY, WAITING])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_deterministic_search_does_not_depend_on_what_was_measured(
    path: Path, call_seconds: dict[int, float], mixed: bool
) -> None:
    """Its batches have one size: the last bits of an output may depend on the number of rows."""
    evaluator = evaluator_of(open_model(path, call_seconds=call_seconds))
    if mixed:
        evaluator = pyengine.MixedEvaluator(evaluator, pyengine.RolloutEvaluator())
    with Engine(GAME, evaluator, batch_size=64, deterministic=True) as engine:
        engine.search(GAME.new_initial_state(), simulations=100)
        stats = engine.stats()
    assert stats["evaluations"] + stats["padding"] == 64 * stats["batches"]


def test_devices_that_differ_in_speed_evaluate_alike(path: Path) -> None:
    models = [open_model(path), open_model(path, call_seconds=WAITING)]
    states = random_states(GAME, 100)
    device = evaluator_of(*models)
    expected = OnnxEvaluator(path, SPEC, providers=["cpu"]).evaluate(states)
    for rows in (100, 3, 40, 9):
        found = device.evaluate(states[:rows], batch_size=64)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other[:rows], atol=1e-6)
    assert [model.sessions for model in models] == [5, 3]  # batches have 64, 4 and 16 rows


@pytest.mark.parametrize(
    ("graphs", "provider"),
    [
        ("", "CPUExecutionProvider"),
        ("working", "CPUExecutionProvider with CUDA graphs"),
        ("refused", "CPUExecutionProvider without CUDA graphs (this network has no graph)"),
        (
            "stale",
            "CPUExecutionProvider without CUDA graphs (a replayed graph gives other answers than "
            "the network)",
        ),
    ],
)
def test_an_engine_says_whether_it_replays_graphs(
    path: Path, graphs: str, provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    providers._log_once.cache_clear()
    model = open_model(path, graphs=graphs)
    device = evaluator_of(model)
    with caplog.at_level(logging.WARNING, logger="pyengine"):
        for _ in range(2):
            with Engine(GAME, device, batch_size=64, cache_entries=0) as engine:
                results = engine.search_many(random_states(GAME, 16, plies=4), simulations=100)
                assert [result.simulations for result in results] == [100] * 16
                assert engine.stats()["provider"] == model.provider_text == provider
    told = [record.getMessage() for record in caplog.records]
    assert told == ([f"the network runs on {provider}"] if "without" in provider else [])
    assert model.sessions == (5 if graphs == "stale" else 4)  # whose first one is not used


def test_a_device_whose_capture_failed_sees_no_other(path: Path, tmp_path: Path) -> None:
    """Each leaves a session open. Other failures do not, and say nothing of other models."""

    def provider_of(model: _core.OnnxModel) -> str:
        with Engine(GAME, evaluator_of(model), batch_size=16, cache_entries=0) as engine:
            engine.search(GAME.new_initial_state(), simulations=20)
        return model.provider_text

    other = TinyModel(planes=PLANES, actions=7).write(tmp_path / "other.onnx")
    opened = open_model(other, graphs="working", device_id=2)  # before the failure
    assert provider_of(open_model(path, graphs="uncopied", device_id=2)).endswith(
        "without CUDA graphs (the device rejects copies)"
    )
    assert provider_of(open_model(path, graphs="working", device_id=2)).endswith("with CUDA graphs")
    assert provider_of(open_model(path, graphs="uncaptured", device_id=2)).endswith(
        "without CUDA graphs (the capture failed)"
    )
    for model in (opened, open_model(path, graphs="working", device_id=2)):
        assert provider_of(model).endswith(
            "without CUDA graphs (a capture failed on this device before: the capture failed)"
        )
    assert provider_of(open_model(path, graphs="working", device_id=3)).endswith("with CUDA graphs")


def test_a_provider_names_the_sizes_and_devices_that_have_graphs(path: Path) -> None:
    model = open_model(path, graphs="working", device_id=4)
    with Engine(GAME, evaluator_of(model), batch_size=16):
        assert model.provider_text == "CPUExecutionProvider with CUDA graphs"
    failing = open_model(path, graphs="uncaptured", device_id=4)
    with Engine(GAME, evaluator_of(failing), batch_size=16):
        pass
    with Engine(GAME, evaluator_of(model), batch_size=32):
        assert model.provider_text == (
            "CPUExecutionProvider with CUDA graphs for 2 sizes of batches, without CUDA graphs (a "
            "capture failed on this device before: the capture failed) for others"
        )
    models = [open_model(path, graphs=graphs) for graphs in ("working", "refused", "working")]
    with Engine(GAME, evaluator_of(*models), batch_size=8) as engine:
        assert engine.stats()["provider"] == (
            "CPUExecutionProvider with CUDA graphs, "
            "CPUExecutionProvider without CUDA graphs (this network has no graph)"
        )


def test_a_second_board_of_a_network_opens_no_session_to_look_at_outputs() -> None:
    name = "gomoku"
    model = open_model(bundled_models()[name], call_seconds=WAITING, graphs="working")
    device = Evaluator(_core.onnx_evaluator([model], OnnxEvaluator(name).spec), None)
    for count, size in enumerate((9, 7), start=1):
        game = pyengine.load_game("gomoku", board_size=size)
        with Engine(game, device, batch_size=16):
            assert model.sessions == count
    assert model.provider_text == "CPUExecutionProvider with CUDA graphs"


def test_one_session_serves_batches_of_all_sizes(path: Path) -> None:
    """TensorRT builds an engine for each session, which takes minutes."""
    model = open_model(path, one_session=True)
    device = evaluator_of(model)
    assert model.sessions == 1  # of the file, before a game and a batch are known
    states = random_states(GAME, 64)
    for count in (1, 3, 64):
        device.evaluate(states[:count])
    for batch_size in (1, 24, 64):
        with Engine(GAME, device, batch_size=batch_size) as engine:
            engine.search_many(states[:8], simulations=20)
    assert model.sessions == 2
    with Engine(GAME, device, batch_size=65):
        assert model.sessions == 3
    with Engine(GAME, device, batch_size=128):  # as many rows as the last one can take
        assert model.sessions == 3


def test_one_session_whose_rows_cannot_be_told_beforehand_sees_one_size(tmp_path: Path) -> None:
    named = TinyModel(planes=PLANES, actions=7, names=("planes:0", "policy", "value"))
    model = open_model(named.write(tmp_path / "m.onnx"), one_session=True)
    with Engine(GAME, evaluator_of(model), batch_size=24, cache_entries=0) as engine:
        engine.search(GAME.new_initial_state(), simulations=1)
        stats = engine.stats()
    assert stats["evaluations"] + stats["padding"] == 24 * stats["batches"]
    assert model.sessions == 2


def test_one_session_refuses_outputs_that_do_not_fit_when_the_batch_is_known(
    tmp_path: Path,
) -> None:
    wrong = TinyModel(planes=PLANES, actions=8).write(tmp_path / "m.onnx")
    device = evaluator_of(open_model(wrong, one_session=True))
    for _ in range(2):
        with pytest.raises(pyengine.ModelError, match="7 numbers per row of output 'policy'"):
            Engine(GAME, device)


def test_searches_of_several_networks_share_the_device(path: Path, tmp_path: Path) -> None:
    """Opening takes the device alone, batches share it: neither may wait for the other for ever."""
    other = TinyModel(planes=PLANES, actions=7).write(tmp_path / "other.onnx")
    states = random_states(GAME, 16, plies=4)
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    def search(file: Path) -> None:
        for batch in (4, 16, 32):
            with Engine(GAME, on_device(file), batch_size=batch) as engine:
                results = engine.search_many(states, simulations=60)
                assert all(result.simulations == 60 for result in results)

    threads = [
        threading.Thread(target=guarded, args=(lambda file=file: search(file),), daemon=True)
        for file in (path, other, path)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


def test_a_network_that_fails_on_the_device_is_an_error_and_may_be_asked_again(
    tmp_path: Path,
) -> None:
    bad = TinyModel(planes=PLANES, actions=7, nan="value").write(tmp_path / "nan.onnx")
    device = on_device(bad)
    for _ in range(2):
        with pytest.raises(pyengine.EvaluationError, match="value must be finite"):
            device.evaluate(random_states(GAME, 3))


def test_a_file_that_changed_under_an_open_model_is_an_error(tmp_path: Path) -> None:
    """Further sessions would be of another network; and the search must end, not wait."""
    file = TinyModel(planes=PLANES, actions=7).write(tmp_path / "m.onnx")
    network = on_device(file)
    states = random_states(GAME, 8)
    network.evaluate(states[:1], batch_size=1)
    file.unlink()

    def search() -> None:
        for batch in (8, 16):  # at the latest the second one's batches need another session
            with Engine(GAME, network, batch_size=batch, threads=2) as engine:
                engine.search_many(states, simulations=300)

    with pytest.raises(pyengine.EvaluationError, match="has changed since it was opened"):
        search()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_search_that_needs_no_network_does_not_keep_others_from_it(
    path: Path, threads: int
) -> None:
    """A board with one empty column: every simulation ends in a known result, and it goes on."""
    full = GAME.new_initial_state()
    for column in "010110100110232332322332454554544554":
        full.apply_action(int(column))
    assert full.legal_actions() == [6]
    with Engine(GAME, on_device(path), batch_size=16, threads=threads, solver=False) as engine:
        _, beside = engine.search_many([full, GAME.new_initial_state()], seconds=0.4)
    assert beside.simulations > 200  # about ten if nobody closed its batches
