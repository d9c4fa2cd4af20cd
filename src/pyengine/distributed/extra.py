"""Ray, the package of the extra ``distributed``, imported where it is needed."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyengine.errors import EngineError

__all__ = ["need_ray"]


def need_ray() -> Any:
    """Return the module ray. Raises EngineError that names the extra where it is not installed."""
    # No telemetry unless the user asked for it; and actors that ask for no GPU see none, as older
    # versions of Ray have it. Both count where this process starts Ray.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise EngineError(
            f"a run on a cluster needs the package {error.name}: "
            "pip install 'pyengine-search[distributed]'"
        ) from error
