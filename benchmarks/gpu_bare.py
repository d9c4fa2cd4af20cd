"""ONNX Runtime without the engine: rows per second on a device for several provider settings.

Call it only from a process that has not opened a network on a GPU through the engine, because both
would share the provider's library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyengine.eval import runtime

if TYPE_CHECKING or __package__:
    from . import networks
    from .common import check
    from .gpu_plan import ENGINE, GRAPH
    from .intervals import median
    from .networks import Floats, Network
else:  # run as a script
    import networks
    from common import check
    from gpu_plan import ENGINE, GRAPH
    from intervals import median
    from networks import Floats, Network

#: Number of calling threads. With two, one batch is copied while the other is computed.
CALLERS = (1, 2)
SLICES = 6
#: Seconds per batch size, after which no further setting is tried.
LONGEST = 12.0
_NOT_TRIED = "not tried: out of time"


def measure(
    network: Network,
    provider: str,
    settings: Mapping[str, Mapping[str, str]],
    batch: int,
    seconds: float,
) -> dict[str, Any]:
    """Return the figures of a row: the best setting and the rate of each.

    ``tried`` records the error of each setting that fails. If all fail, raises the first error.
    """
    tried: dict[str, float | str] = {}
    errors: list[Exception] = []
    begun = time.perf_counter()
    for name, options in settings.items():
        if time.perf_counter() - begun > LONGEST:
            tried[name] = _NOT_TRIED
            continue
        try:
            tried[name] = _rate(network, provider, name, options, batch, seconds)
        except Exception as error:  # ONNX Runtime's error for an unsupported setting
            tried[name] = f"{type(error).__name__}: {error}"
            errors.append(error)
    rates = {name: rate for name, rate in tried.items() if isinstance(rate, float)}
    if not rates:
        raise errors[0]
    best = max(rates, key=lambda name: rates[name])
    return {
        "rows/s": rates[best],
        "engine's rows/s": rates.get(ENGINE),
        "ms a batch": 1e3 * batch / rates[best],
        "bare settings": best,
        "tried": tried,
    }


def has_failed(figures: Mapping[str, Any]) -> bool:
    """Return whether a setting failed in a way that may leave the device's context unusable."""
    tried = figures.get("tried", {})
    return any(isinstance(found, str) and found != _NOT_TRIED for found in tried.values())


def _rate(
    network: Network,
    provider: str,
    name: str,
    options: Mapping[str, str],
    batch: int,
    seconds: float,
) -> float:
    """Return rows per second with the better number of callers."""
    session = open_session(network.path, provider, options)
    states = networks.random_states(network.game, batch)
    planes = networks.input_planes(network, session, states)
    names = networks.output_names(network, session)
    given = networks.input_of(network, session).name
    if name == GRAPH:  # a graph has fixed buffers, which callers cannot share
        return _rate_of(graph_call(session, given, planes, names, provider), batch, 1, seconds)

    def call() -> None:
        session.run(names, {given: planes})

    return max(_rate_of(call, batch, callers, seconds) for callers in CALLERS)


def open_session(path: Path, provider: str, options: Mapping[str, str]) -> Any:
    """Open a plain ONNX Runtime session. Raises CheckError if it falls back to another provider."""
    if provider == "cuda":
        runtime.preload_cuda()
    import onnxruntime

    wanted = runtime.CUDA if provider == "cuda" else runtime.CPU
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), settings, providers=[(wanted, dict(options))])
    found = session.get_providers()[0]
    check(f"the session runs on {wanted}", found == wanted, found)
    return session


def graph_call(
    session: Any, given: str, planes: Floats, names: list[str], provider: str
) -> Callable[[], None]:
    """Return a call on fixed device buffers, including the copies to and from the device."""
    import onnxruntime

    device = "cuda" if provider == "cuda" else "cpu"
    held = onnxruntime.OrtValue.ortvalue_from_numpy(planes, device, 0)
    binding = session.io_binding()
    binding.bind_ortvalue_input(given, held)
    for output in session.get_outputs():  # not by a run, which would be captured
        if output.name in names:
            kind = np.float16 if "float16" in output.type else np.float32
            zeros = np.zeros((len(planes), *output.shape[1:]), kind)
            buffer = onnxruntime.OrtValue.ortvalue_from_numpy(zeros, device, 0)
            binding.bind_ortvalue_output(output.name, buffer)

    def call() -> None:
        held.update_inplace(planes)
        session.run_with_iobinding(binding)
        binding.copy_outputs_to_cpu()

    return call


def _rate_of(call: Callable[[], None], batch: int, callers: int, seconds: float) -> float:
    """Return the median of several rates, after two warm-up calls."""
    for _ in range(2):  # chooses algorithms or captures a graph
        call()
    length = seconds / SLICES

    def work() -> int:
        end, calls = time.perf_counter() + length, 0
        while not calls or time.perf_counter() < end:
            call()
            calls += 1
        return calls

    rates = []
    with ThreadPoolExecutor(callers) as pool:
        for _ in range(SLICES):
            begun = time.perf_counter()
            calls = sum(done.result() for done in [pool.submit(work) for _ in range(callers)])
            rates.append(batch * calls / (time.perf_counter() - begun))
    return median(rates)
