"""A user's game on the command line: ``FILE.py:NAME``."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pyengine.errors import ConfigError
from pyengine.games import Game, as_game

__all__ = ["names_own_game", "own_game"]


def names_own_game(text: str) -> bool:
    """Return whether the text names a file, and not a game of the engine."""
    return ".py" in (Path(text).suffix, Path(text.rpartition(":")[0]).suffix)


def own_game(text: str, params: Mapping[str, Any]) -> Game:
    """Return the game that a Python file defines.

    Args:
        text: ``FILE.py:NAME``. NAME is a game, or what makes one when called: a class, a function.
        params: arguments of that call.

    Raises:
        ConfigError: there is no such file or name, it does not take these arguments, or what it
            makes is no game that can be searched.

    What the file's own code raises passes unchanged.
    """
    place, _, name = text.rpartition(":")
    file = Path(place)
    if not file.is_file():
        raise ConfigError(f"expected FILE.py:NAME with the file of a game, found {text!r}")
    module = _imported(file)
    found = getattr(module, name, None)
    if found is None:
        known = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise ConfigError(f"{place}: expected one of {known or 'its names'}, found {name!r}")
    return as_game(_made(text, found, params))


def _imported(file: Path) -> ModuleType:
    """Run the file, which imports from its own folder as when it is run by Python."""
    sys.path.insert(0, str(file.resolve().parent))
    name = f"own_game_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _made(text: str, found: Any, params: Mapping[str, Any]) -> Any:
    if not callable(found):
        if params:
            raise ConfigError(f"{text} is made already: expected no --param, found {list(params)}")
        return found
    try:
        inspect.signature(found).bind(**params)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{text} cannot be called with {dict(params)}: {error}") from None
    return found(**params)
