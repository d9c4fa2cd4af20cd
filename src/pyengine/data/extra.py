"""The packages of extras, imported where they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from pyengine.errors import EngineError

__all__ = ["need"]


def need(module: str, extra: str) -> Any:
    """Return a module of an extra. Raises EngineError that names the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EngineError(
            f"this needs the package {(error.name or module).split('.')[0]}: "
            f"pip install 'pyengine-search[{extra}]'"
        ) from error
