"""Checks of the providers and devices that a network runs on."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyengine import _core
from pyengine.base.checks import integer, short_repr
from pyengine.errors import ConfigError, ModelError

_log = logging.getLogger("pyengine")

#: A provider's name, or a name and its options.
ProviderLike: TypeAlias = str | tuple[str, Mapping[str, object]]


def device_list(device_id: Any, devices: Any) -> list[int]:
    """Return the indices of the GPUs."""
    if devices is None:
        return [natural("device_id", device_id, 0)]
    if isinstance(devices, str) or not isinstance(devices, Sequence) or not devices:
        raise ConfigError(f"devices: expected None or GPU indices, got {short_repr(devices)}")
    indices = [natural("devices", index, 0) for index in devices]
    if len(set(indices)) != len(indices):
        raise ConfigError(f"devices: expected different GPUs, got {short_repr(devices)}")
    if device_id != 0:
        raise ConfigError("expected device_id or devices, got both")
    return indices


def check_on_gpus(devices: list[int], models: list[_core.OnnxModel]) -> None:
    """Raise ModelError if a model runs on the CPU."""
    for device, model in zip(devices, models, strict=True):
        if model.provider == "CPUExecutionProvider":
            raise ModelError(
                f"devices: expected the GPU {device}, got the CPU ({model.provider_reason})"
            )


def tell_of_graphs(provider: str) -> None:
    """Log once per reason that CUDA graphs were requested but are not used."""
    if " without CUDA graphs (" in provider:
        _log_once(provider)


@functools.lru_cache(maxsize=64)
def _log_once(provider: str) -> None:
    _log.warning("the network runs on %s", provider)


def natural(name: str, value: Any, least: int) -> int:
    """Return an int of at least ``least`` that fits a C++ int."""
    return integer(name, value, least, 2**31 - 1)


def is_provider(name: str, provider: str) -> bool:
    """Return whether a name is a provider's full name, or its short one in any case."""
    return name == provider or name.lower() == provider.removesuffix("ExecutionProvider").lower()


def provider_list(providers: Any) -> list[tuple[str, dict[str, str]]]:
    """Return names and options of providers, [] for None."""
    if providers is None:
        return []
    entries = [providers] if isinstance(providers, str) else providers
    if not isinstance(entries, Sequence) or not entries:
        raise ConfigError(f"providers: expected None or names, got {short_repr(providers)}")
    return [_provider(entry) for entry in entries]


def _provider(entry: Any) -> tuple[str, dict[str, str]]:
    match entry:
        case str(name):
            return name, {}
        case (str(name), Mapping() as options) if all(isinstance(key, str) for key in options):
            return name, {key: str(value) for key, value in options.items()}
    raise ConfigError(
        f"providers: expected a name, or a name and a dict of options, got {short_repr(entry)}"
    )
