"""The GPU self-test: whether ONNX Runtime can use the GPU and a search keeps it busy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.doctor.device import DeviceTest, random_states, rate
from pyengine.doctor.report import Check, runtime_checks, skipped, verdict
from pyengine.errors import ConfigError, EngineError
from pyengine.eval import runtime
from pyengine.eval.bundled import game_of_model, network_file
from pyengine.eval.evaluators import Evaluator, OnnxEvaluator, bundled_models
from pyengine.eval.providers import ProviderLike
from pyengine.games.game import Game
from pyengine.search.engine import Engine

_GRAPH_BATCHES = (8, 64)  # rows
_PREFERRED = ("gomoku", "connect4")  # bundled networks, the largest first

#: Settings for a noisier test of a few seconds instead of half a minute.
_FAST: dict[str, Any] = {
    "positions": 64,
    "batches": (1, 8, 64),
    "seconds": 0.1,
    "search_seconds": 0.4,
    "search_batches": (8,),
}


def default_model() -> str | None:
    """Return the bundled network to test with, or None."""
    names = bundled_models()
    return next((name for name in (*_PREFERRED, *names) if name in names), None)


def gpu_self_test(
    model: str | None = None,
    game: Game | None = None,
    *,
    provider: str = "cuda",
    device_id: int = 0,
    fast: bool = False,
    **settings: Any,
) -> Iterator[Check]:
    """Test a GPU and yield the result of each check. Raises ConfigError without model and game.

    Args:
        model: name of a bundled network, or path of an ONNX file.
        game: the model's game; not needed for a bundled network.
        provider: ``"cuda"``, ``"tensorrt"``, or ``"cpu"`` to run the test without a GPU.
        device_id: number of the GPU.
        fast: make fewer and shorter measurements.
        **settings: fields of :class:`~pyengine.doctor.device.DeviceTest`.

    """
    path, game = _choose(model, game)
    if not _is(provider, runtime.CPU):
        yield _driver_check()
    yield from _provider_checks(provider, device_id)
    try:
        device = OnnxEvaluator(path, providers=[provider], device_id=device_id)
    except EngineError as error:
        yield verdict(False, "device", f"{error}{_advice(error)}")
        yield skipped("outputs, padding, batches, searches", f"no {provider} device to test")
        return
    loaded = runtime.preload_cuda()
    if loaded:
        yield verdict(True, "CUDA libraries", f"{len(loaded)} of the nvidia-* wheels are loaded")
    yield verdict(True, "device", f"{path.name} ({game}) runs on {device.provider} {device_id}")
    reference = OnnxEvaluator(path, providers=["cpu"])
    settings = {**(_FAST if fast else {}), **settings}
    yield from DeviceTest(game=game, device=device, reference=reference, **settings).run()
    if device.provider == runtime.CUDA:  # last, because a failed capture can disturb later calls
        try:
            providers: list[ProviderLike] = [("cuda", {"enable_cuda_graph": "1"})]
            graphs = OnnxEvaluator(path, providers=providers, device_id=device_id)
            yield graph_check(game, device, graphs)
        except EngineError as error:
            yield verdict(False, "CUDA graphs", str(error))


def _choose(model: str | None, game: Game | None) -> tuple[Path, Game]:
    name = model if model is not None else default_model()
    if name is None:
        raise ConfigError("no network is bundled with this build: pass a file and its game")
    path = network_file("model", name)
    if game is None:
        game = game_of_model(name)
    if game is None:
        raise ConfigError(f"the game of {name} is unknown: pass it, for example 'gomoku'")
    return path, game


def _is(name: str, provider: str) -> bool:
    """Return whether a name is the provider's full or short name."""
    return name.lower() in (provider.lower(), provider.lower().removesuffix("executionprovider"))


def _driver_check() -> Check:
    """Report the GPUs that the driver sees."""
    problem = runtime.driver_problem()
    if problem is not None:
        return verdict(False, "driver", f"no NVIDIA driver: {problem}")
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return verdict(True, "driver", f"is installed, but nvidia-smi failed: {error}")
    return verdict(True, "driver", "; ".join(done.stdout.split("\n")).strip("; "))


def _provider_checks(required: str, device_id: int) -> Iterator[Check]:
    """Report the providers of ONNX Runtime; only the required one must work."""
    for check in runtime_checks(runtime.runtime_report(device_id)):
        if check.verdict == "SKIP" and _is(required, check.name):
            yield verdict(False, check.name, check.detail)
        else:
            yield check
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        yield verdict(True, "TensorFloat-32", "is off (NVIDIA_TF32_OVERRIDE=0)")


def _advice(error: EngineError) -> str:
    """Return how to install the CUDA libraries if only they are missing, or ""."""
    if "Failed to load library" in str(error) and runtime.driver_problem() is None:
        return " (pip install 'onnxruntime-gpu[cuda,cudnn]' installs the CUDA libraries)"
    return ""


def graph_check(game: Game, plain: Evaluator, graphs: Evaluator, *, seconds: float = 0.2) -> Check:
    """Compare the outputs and the speed of a network without (``plain``) and with CUDA graphs.

    ``seconds``: per measurement.
    """
    name, tolerance = "CUDA graphs", DeviceTest.tolerance
    states = random_states(game, max(_GRAPH_BATCHES))
    gains = []
    for batch in _GRAPH_BATCHES:
        with Engine(game, graphs, batch_size=batch) as engine:
            provider = engine.stats()["provider"]
        if "with CUDA graphs" not in provider or "without CUDA graphs" in provider:
            return skipped(name, f"are not used: the network runs on {provider}")
        rows = states[:batch]
        outputs = (evaluator.evaluate(rows, batch_size=batch) for evaluator in (plain, graphs))
        error = max(float(np.abs(a - b).max()) for a, b in zip(*outputs, strict=True))
        if not error <= tolerance:
            detail = f"change the outputs for {batch} positions by up to {error:.1e}"
            return verdict(False, name, f"{detail}, limit {tolerance:.1e}")
        fast, slow = (
            max(rate(evaluator, rows, count, seconds) for count in DeviceTest.callers)
            for evaluator in (graphs, plain)
        )
        gains.append(f"{fast / slow:.2f} times the positions/s in batches of {batch}")
    setting = "providers=[('cuda', {'enable_cuda_graph': '1'})]"
    return verdict(True, name, f"{', '.join(gains)} ({setting})")
