"""The packages of the extra ``train``, imported where they are needed."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyengine.errors import EngineError

__all__ = ["need"]


def need(module: str) -> Any:
    """Return a module that needs the extra ``train``: one of its packages, or one of ours on them.

    Raises:
        EngineError: a package is not installed; names the extra.

    """
    # As for the engine's own copy of ONNX Runtime: no telemetry unless the user asked for it.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        if package == "pyengine":
            raise
        raise EngineError(
            f"training needs the package {package}: pip install 'pyengine-search[train]'"
        ) from error
