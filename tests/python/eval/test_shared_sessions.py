"""Evaluators of one file share ONNX Runtime sessions while any of them is in use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import pyengine
from pyengine import Engine, OnnxEvaluator, _core
from simulated_gpu import GAME, SPEC, START, evaluator_of, open_model, tiny


def write(path: Path, seed: int = 1) -> Path:
    return tiny(seed=seed).write(path)


def on_cpu(path: Path) -> OnnxEvaluator:
    return OnnxEvaluator(path, SPEC, providers=["cpu"])


def search_on(model: _core.OnnxModel) -> None:
    with Engine(GAME, evaluator_of(model), batch_size=16, threads=2) as engine:
        engine.search(START, simulations=20)


def test_engines_have_one_session_per_concurrent_call(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx")
    engines = [Engine(GAME, on_cpu(path), threads=2) for _ in range(8)]
    for engine in engines:
        engine.search(START, simulations=50)
    assert open_model(path, as_device=False, call_seconds={}).sessions <= 2


@pytest.mark.parametrize("spelling", ["m.onnx", "./m.onnx", "absolute"])
def test_paths_of_one_file_share_a_model(
    spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "m.onnx")
    monkeypatch.chdir(tmp_path)
    first = open_model(path)
    search_on(first)
    assert first.sessions == 2  # 16 and 8 rows
    assert open_model(path if spelling == "absolute" else Path(spelling)).sessions == 2


@pytest.mark.parametrize("options", [{"threads": 2}, {"max_batch": 4}, {"device_id": 1}])
def test_other_options_open_another_model(options: dict[str, int], tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx")
    first = open_model(path)
    search_on(first)
    assert open_model(path, **options).sessions == 1 < first.sessions


def test_sessions_are_closed_with_their_last_user(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx")
    first, second = open_model(path), open_model(path)
    search_on(first)
    del first
    assert open_model(path).sessions == second.sessions == 2
    del second
    assert open_model(path).sessions == 1


@pytest.mark.parametrize("same_time", [False, True])
def test_a_rewritten_file_is_opened_again(same_time: bool, tmp_path: Path) -> None:
    """The old network stays the same, even if both files have the same time."""
    path = write(tmp_path / "m.onnx")
    times = path.stat()
    old = on_cpu(path)
    before = old.evaluate([START])
    write(path, seed=2)
    if same_time:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    new = on_cpu(path)
    expected = on_cpu(write(tmp_path / "other.onnx", seed=2)).evaluate([START])
    for now, then, other in zip(new.evaluate([START]), before, expected, strict=True):
        assert not np.array_equal(now, then)
        assert np.array_equal(now, other)
    assert np.array_equal(old.evaluate([START])[0], before[0])


def replaced(path: Path, times: os.stat_result) -> None:
    """Replace the file by another network with the same time."""
    other = write(path.with_name("other.onnx"), seed=2)
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)


def rewritten(path: Path, times: os.stat_result) -> None:
    """Overwrite the file with another network with the same time."""
    write(path, seed=2)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("change", [replaced, rewritten])
def test_concurrent_calls_keep_using_the_opened_network(
    change: Callable[[Path, os.stat_result], None], tmp_path: Path
) -> None:
    """Each concurrent call needs a session, which must not be opened from the changed file."""
    path = write(tmp_path / "m.onnx")
    times = path.stat()
    network = on_cpu(path)
    states = [START] * 256
    before = network.evaluate(states)[0]
    change(path, times)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (times.st_size, times.st_mtime_ns)
    start = threading.Barrier(8)

    def agrees(_: int) -> bool:
        start.wait()
        return all(np.array_equal(network.evaluate(states)[0], before) for _ in range(5))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(agrees, range(8)))


def removed(path: Path, times: os.stat_result) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [replaced, rewritten, removed])
def test_a_device_opens_no_session_of_a_changed_file(
    change: Callable[[Path, os.stat_result], None], tmp_path: Path
) -> None:
    """The search must fail, not hang."""
    path = write(tmp_path / "m.onnx")
    times = path.stat()
    model = open_model(path)
    change(path, times)
    with pytest.raises(pyengine.EvaluationError, match="has changed since it was opened"):
        search_on(model)
    assert model.sessions == 1


def test_engines_that_share_a_network_search_as_they_do_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx")

    def visits(seed: int) -> list[int]:
        config = pyengine.SearchConfig(deterministic=True, seed=seed, threads=2, batch_size=4)
        with Engine(GAME, on_cpu(path), config=config) as engine:
            return [int(n) for n in engine.search(START, simulations=200).visits]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(visits, range(4))) == [visits(seed) for seed in range(4)]


def test_rewritten_external_data_is_read_again(tmp_path: Path) -> None:
    path, weights = write(tmp_path / "m.onnx"), tmp_path / "weights"
    weights.write_bytes(b"old")
    old = open_model(path, weights=[weights])
    search_on(old)
    assert open_model(path, weights=[weights]).sessions == old.sessions == 2
    weights.write_bytes(b"new")
    assert open_model(path, weights=[weights]).sessions == 1


def test_on_the_cpu_a_network_works_without_its_file(tmp_path: Path) -> None:
    """All sessions are open already."""
    path = write(tmp_path / "m.onnx")
    network = on_cpu(path)
    before = network.evaluate([START])
    path.unlink()
    with Engine(GAME, network, threads=4, batch_size=4) as engine:
        for result in engine.search_many([START] * 8, simulations=100):
            assert result.simulations == 100
    assert np.array_equal(network.evaluate([START])[0], before[0])
