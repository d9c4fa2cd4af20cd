"""The self-test of a GPU: can ONNX Runtime use it, and does a search keep it busy?"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyengine.doctor.checks import Check, failed, passed, skipped
from pyengine.doctor.cuda_graphs import graph_check
from pyengine.doctor.device import DeviceTest
from pyengine.doctor.report import runtime_checks
from pyengine.errors import ConfigError, EngineError
from pyengine.eval import runtime
from pyengine.eval.bundled import game_of_model
from pyengine.eval.evaluators import OnnxEvaluator, bundled_models
from pyengine.eval.providers import ProviderLike
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

__all__ = ["default_model", "gpu_self_test", "quick"]

_PREFERRED = ("gomoku", "connect4")  # of the bundled networks: the larger the better


def default_model() -> str | None:
    """Return the bundled network to test with; None where none is bundled."""
    names = bundled_models()
    return next((name for name in (*_PREFERRED, *names) if name in names), None)


def quick(test: DeviceTest) -> DeviceTest:
    """Return a test that takes seconds instead of half a minute, at the price of noise."""
    return dataclasses.replace(
        test,
        positions=64,
        batches=(1, 8, 64),
        seconds=0.1,
        search_seconds=0.4,
        search_batches=(8,),
    )


def gpu_self_test(
    model: str | None = None,
    game: Game | None = None,
    *,
    provider: str = "cuda",
    device_id: int = 0,
    spec: ModelSpec | None = None,
    fast: bool = False,
    **settings: Any,
) -> Iterator[Check]:
    """Test a GPU, yielding line by line.

    Args:
        model: name of a bundled network or path of a file; None = a bundled one.
        game: that it plays; known for bundled networks.
        provider: ``"cuda"``, ``"tensorrt"``, or ``"cpu"`` to see the same lines without a GPU.
        device_id: which GPU.
        spec: of the network, where the file does not tell.
        fast: fewer and shorter measurements.
        **settings: fields of :class:`~pyengine.doctor.device.DeviceTest`.

    Raises:
        ConfigError: no model or no game to test with.

    """
    path, game = _choose(model, game)
    if not _is(provider, runtime.CPU):
        yield _driver_check()
    yield from _provider_checks(provider, device_id)
    opened = _open(path, spec, [provider], device_id)
    if isinstance(opened, Check):
        yield opened
        yield skipped("outputs, padding, batches, searches", f"no {provider} device to test")
        return
    loaded = runtime.preload_cuda()
    if loaded:
        yield passed("CUDA libraries", f"{len(loaded)} of the nvidia-* wheels are loaded")
    yield passed("device", f"{path.name} ({game}) runs on {opened.provider} {device_id}")
    reference = _open(path, spec, ["cpu"], 0)
    if isinstance(reference, Check):
        yield reference
        return
    test = DeviceTest(game=game, device=opened, reference=reference)
    yield from dataclasses.replace(quick(test) if fast else test, **settings).run()
    if opened.provider == runtime.CUDA:  # last, as a failed capture can disturb what comes after
        yield _graph_check(path, spec, game, opened, device_id)


def _graph_check(
    path: Path, spec: ModelSpec | None, game: Game, plain: OnnxEvaluator, device_id: int
) -> Check:
    """Compare the network with itself under CUDA graphs, which go with the evaluator here."""
    graphs = _open(path, spec, [("cuda", {"enable_cuda_graph": "1"})], device_id)
    return graphs if isinstance(graphs, Check) else graph_check(game, plain, graphs)


def _choose(model: str | None, game: Game | None) -> tuple[Path, Game]:
    name = model if model is not None else default_model()
    if name is None:
        raise ConfigError("no network is bundled with this build: name a file and its game")
    path = bundled_models().get(name, Path(name))
    if game is None:
        game = game_of_model(name)
    if game is None:
        raise ConfigError(f"the game of {name} is not known: name it, for example 'gomoku'")
    return path, game


def _is(wanted: str, provider: str) -> bool:
    """Return whether a provider was asked for, by its full or its short name."""
    return wanted.lower() in (provider.lower(), provider.lower().removesuffix("executionprovider"))


def _driver_check() -> Check:
    """Say which GPU the driver sees."""
    problem = runtime.driver_problem()
    if problem is not None:
        return failed("driver", f"no NVIDIA driver: {problem}")
    asked = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return passed("driver", f"is there; nvidia-smi does not tell more: {error}")
    return passed("driver", "; ".join(done.stdout.split("\n")).strip("; "))


def _provider_checks(wanted: str, device_id: int) -> Iterator[Check]:
    """Say what ONNX Runtime offers; the provider wanted must work, the others may be absent."""
    for check in runtime_checks(runtime.runtime_report(device_id)):
        if check.verdict == "SKIP" and _is(wanted, check.name):
            yield failed(check.name, check.detail)
        else:
            yield check
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        yield passed("TensorFloat-32", "is off (NVIDIA_TF32_OVERRIDE=0)")


def _open(
    path: Path, spec: ModelSpec | None, providers: Sequence[ProviderLike], device_id: int
) -> OnnxEvaluator | Check:
    try:
        return OnnxEvaluator(path, spec=spec, providers=providers, device_id=device_id)
    except EngineError as error:
        advice = ""
        if "Failed to load library" in str(error) and runtime.driver_problem() is None:
            advice = " (pip install 'onnxruntime-gpu[cuda,cudnn]' brings CUDA's libraries)"
        return failed("device", f"{error}{advice}")
