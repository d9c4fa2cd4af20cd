"""Imports of optional packages."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyengine.errors import EngineError

_FEATURES = {
    "convert": "this conversion",
    "distributed": "a run on a cluster",
    "plot": "a picture",
    "serve": "a board in the browser",
    "train": "training",
}
#: Telemetry of ONNX Runtime and Ray is off unless the user turns it on. Ray actors that request no
#: GPU see none, in every version of Ray.
_ENVIRONMENT = {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}


def need(module: str, extra: str) -> Any:
    """Import a module that needs an extra. Raises EngineError if a package is not installed."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = (error.name or module).split(".")[0]
        if package == "pyengine":
            raise
        raise EngineError(
            f"{_FEATURES.get(extra, 'this')} needs the package {package}: "
            f"pip install 'pyengine-search[{extra}]'"
        ) from error
