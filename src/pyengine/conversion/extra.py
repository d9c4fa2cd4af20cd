"""The packages of the extra ``convert``, imported where they are needed."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyengine.errors import EngineError

__all__ = ["need"]


def need(module: str) -> Any:
    """Return a module of the extra ``convert``.

    Raises:
        EngineError: it is not installed; names the extra.

    """
    # As for the engine's own copy of ONNX Runtime: no telemetry unless the user asked for it.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EngineError(
            f"this conversion needs the package {(error.name or module).split('.')[0]}: "
            "pip install 'pyengine-search[convert]'"
        ) from error
