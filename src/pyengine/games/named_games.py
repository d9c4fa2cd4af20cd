"""Loading of Python and pyspiel games by name."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from pyengine.base.checks import did_you_mean, short_repr
from pyengine.base.files import unread
from pyengine.errors import ConfigError

_PYSPIEL = "pyspiel:"
_PARAMETERS = re.compile(r"\((.*)\)\s*$", re.DOTALL)


def names_foreign_game(text: str) -> bool:
    """Return whether a name refers to a Python or pyspiel game, not a built-in one."""
    bare = bare_name(text)
    place, colon, _ = bare.rpartition(":")
    return bool(colon and place) or Path(bare).suffix == ".py"


def runs_code(text: str) -> bool:
    """Return whether loading the game runs a module or a file."""
    return names_foreign_game(text) and not text.startswith(_PYSPIEL)


def find_game(text: str, params: Mapping[str, Any]) -> Any:
    """Return the game object for a name.

    Args:
        text: ``package.module:NAME`` or ``FILE.py:NAME``, where NAME is a game, or a class or a
            function that returns one; or ``pyspiel:hex``. Parameters may follow in parentheses.
        params: further parameters.

    Raises:
        ConfigError: the module, file, name or game does not exist, or it does not accept these
            parameters. Exceptions raised by the named code propagate.
    """
    if text.startswith(_PYSPIEL):
        return _of_pyspiel(text.removeprefix(_PYSPIEL), params)
    arguments = parameters_of(text, params)
    bare = bare_name(text)
    place, _, name = bare.rpartition(":")
    is_file = Path(place).suffix == ".py"
    if not is_file and Path(bare).suffix == ".py":
        raise ConfigError(f"expected FILE.py:NAME, got {short_repr(bare)} without a NAME")
    module = _file(place) if is_file else _module(place, bare)
    made_by = getattr(module, name, None)
    if made_by is None:
        known = _offered(module)
        expected = f"one of {', '.join(known)}" if known else "the name of a game"
        raise ConfigError(
            f"{place}: expected {expected}, got {short_repr(name)}{did_you_mean(name, known)}"
        )
    return made(bare, made_by, arguments)


def _offered(module: ModuleType) -> list[str]:
    """The public games, classes of games and functions that a module defines."""

    def is_own(value: Any) -> bool:
        return f"{getattr(value, '__module__', '')}.".startswith(f"{module.__name__}.")

    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and is_own(value)
        and (inspect.isroutine(value) or hasattr(value, "new_initial_state"))
    ]


def canonical(text: str, params: Mapping[str, Any]) -> str:
    """Return the name with all parameters and the absolute path of a file."""
    if text.startswith(_PYSPIEL) and not params:
        return text  # its parameters may be games with parameters
    given = parameters_of(text, params)
    bare = bare_name(text)
    place, _, name = bare.rpartition(":")
    if Path(place).suffix == ".py":
        with suppress(OSError, RuntimeError, ValueError):  # reading the file reports the error
            bare = f"{Path(place).resolve()}:{name}"
    parameters = ",".join(f"{key}={value!r}" for key, value in sorted(given.items()))
    return f"{bare}({parameters})" if parameters else bare


def bare_name(text: str) -> str:
    """Return a game's name without the parameters in parentheses."""
    return _PARAMETERS.sub("", text).strip()


def parameters_of(text: str, params: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return the parameters in a game's text form, and further ones. Raises ConfigError."""
    parameters = _PARAMETERS.search(text)
    merged: dict[str, Any] = {}
    for part in filter(None, (parameters.group(1) if parameters else "").split(",")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name.isidentifier() or name in merged:
            raise ConfigError(
                f"expected distinct NAME=VALUE pairs in parentheses, got {short_repr(text)}"
            )
        merged[name] = _value(value)
    if twice := sorted(merged.keys() & params.keys()):
        raise ConfigError(f"{', '.join(twice)} given twice")
    return merged | dict(params)


def _value(text: str) -> bool | int | float | str:
    words = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return value if isinstance(value, bool | int | float | str) else text


def _of_pyspiel(text: str, params: Mapping[str, Any]) -> Any:
    name = text.partition("(")[0].strip()
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ImportError as error:
        raise ConfigError(
            f"{_PYSPIEL}{name} needs OpenSpiel: pip install open_spiel ({error})"
        ) from error
    if name not in pyspiel.registered_names():
        hint = did_you_mean(name, pyspiel.registered_names())
        raise ConfigError(f"pyspiel has no game {short_repr(name)}{hint}")
    try:
        return (
            pyspiel.load_game(name, parameters_of(text, params))
            if params
            else pyspiel.load_game(text)
        )
    except pyspiel.SpielError as error:
        extra = f" with {dict(params)}" if params else ""
        raise ConfigError(f"pyspiel cannot load {text}{extra}: {error}") from error


def _module(place: str, text: str) -> ModuleType:
    if not all(part.isidentifier() for part in place.split(".")):
        raise ConfigError(f"expected package.module:NAME, got {short_repr(text)}")
    with suppress(OSError):  # the folder may have been deleted
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)  # last, so that it shadows nothing
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise  # the module exists, but an import in it failed
        raise ConfigError(
            f"expected package.module:NAME or FILE.py:NAME, got {short_repr(text)}: {error}"
        ) from error
    except SyntaxError as error:
        raise ConfigError(f"{place} cannot be imported: {error}") from error


def _file(place: str) -> ModuleType:
    """Import a file; like a script, it may import from its own folder."""
    file = Path(place)
    name = f"own_game_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
    try:
        spec.loader.get_code(name)
    except (OSError, SyntaxError, ValueError) as error:  # ValueError: not text
        raise ConfigError(unread(file, error)) from error
    sys.path.insert(0, str(file.resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def made(text: str, made_by: Any, params: Mapping[str, Any]) -> Any:
    """Return a game, or the result of calling what makes it. Raises ConfigError."""
    if not callable(made_by):
        if params:
            raise ConfigError(f"{text} is a game and takes no parameters, got {list(params)}")
        return made_by
    try:
        inspect.signature(made_by).bind(**params)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{text} cannot be called with {dict(params)}: {error}") from None
    return made_by(**params)
