"""The packages of extras, imported where they are needed."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyengine.errors import EngineError

#: What needs an extra, in the words of its error.
_WHAT = {
    "convert": "this conversion",
    "distributed": "a run on a cluster",
    "train": "training",
}
#: Neither ONNX Runtime nor Ray reports to its maker unless the user asked for it; actors of Ray
#: that ask for no GPU see none, in every version of Ray.
_ENVIRONMENT = {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}


def need(module: str, extra: str) -> Any:
    """Return a module of an extra's packages, or one of ours that needs them.

    Raises:
        EngineError: a package is not installed; names the extra.

    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = (error.name or module).split(".")[0]
        if package == "pyengine":
            raise
        raise EngineError(
            f"{_WHAT.get(extra, 'this')} needs the package {package}: "
            f"pip install 'pyengine-search[{extra}]'"
        ) from error
