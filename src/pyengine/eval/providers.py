"""The providers, devices and counts that a network's evaluator is given, checked."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pyengine import _core
from pyengine.base.arguments import short_repr
from pyengine.base.integers import integer
from pyengine.errors import ConfigError, ModelError
from pyengine.eval import engine_cache

_log = logging.getLogger("pyengine")

#: A name, or a name and options.
ProviderLike: TypeAlias = str | tuple[str, Mapping[str, object]]


def engine_folder_of(model: Path, library: Path, providers: list[tuple[str, Any]]) -> Path | None:
    """Return where TensorRT keeps this network's engines; None where it does not."""
    if not any("tensorrt" in name.lower() for name, _ in providers):
        return None
    return engine_cache.engine_folder(model, _core.ort_report(library)[0])


def device_list(device_id: Any, devices: Any) -> list[int]:
    """Return the numbers of the GPUs."""
    if devices is None:
        return [natural("device_id", device_id, 0)]
    if isinstance(devices, str) or not isinstance(devices, Sequence) or not devices:
        raise ConfigError(f"devices: expected None or some GPUs, got {short_repr(devices)}")
    chosen = [natural("devices", one, 0) for one in devices]
    if len(set(chosen)) != len(chosen):
        raise ConfigError(f"devices: expected different GPUs, got {short_repr(devices)}")
    if device_id != 0:
        raise ConfigError("expected device_id or devices, got both")
    return chosen


def check_on_gpus(devices: list[int], models: list[_core.OnnxModel]) -> None:
    """Raise ModelError if a model is on the CPU."""
    for device, model in zip(devices, models, strict=True):
        if model.provider == "CPUExecutionProvider":
            raise ModelError(
                f"devices: expected the GPU {device}, got the CPU ({model.provider_reason})"
            )


def tell_of_graphs(provider: str) -> None:
    """Log once that CUDA graphs that were asked for are not used, and why."""
    if " without CUDA graphs (" in provider:
        _log_once(provider)


@functools.lru_cache(maxsize=64)
def _log_once(provider: str) -> None:
    _log.warning("the network runs on %s", provider)


def natural(name: str, value: Any, least: int) -> int:
    """Return an int of at least ``least``, cut to what C++ takes."""
    return min(integer(name, value, least), 2**31 - 1)


def provider_list(providers: Any) -> list[tuple[str, dict[str, str]]]:
    """Return providers with their options as strings; none for None."""
    if providers is None:
        return []
    given = [providers] if isinstance(providers, str) else providers
    if not isinstance(given, Sequence) or not given:
        raise ConfigError(f"providers: expected None or some names, got {short_repr(providers)}")
    return [_provider(one) for one in given]


def _provider(given: Any) -> tuple[str, dict[str, str]]:
    match given:
        case str(name):
            return name, {}
        case (str(name), Mapping() as options) if isinstance(given, tuple) and all(
            isinstance(key, str) and isinstance(value, str | int | float)
            for key, value in options.items()
        ):
            return name, {key: str(value) for key, value in options.items()}
    raise ConfigError(
        "providers: expected a name, or a tuple of a name and its options (names and strings or "
        f"numbers), got {short_repr(given)}"
    )
