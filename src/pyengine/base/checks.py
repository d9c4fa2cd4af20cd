"""Checks of arguments: each error names the argument, the expectation and the value."""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from types import UnionType
from typing import Any

import numpy as np

from pyengine.errors import ConfigError

_MAX_CHARS = 100  # of a value in a message; src/cpp/base/text.h has the same limit

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _MAX_CHARS


def repr_with_type(value: Any) -> str:
    """Return the shortened repr of a value, followed by its type."""
    return f"{short_repr(value)} ({type(value).__name__})"


def short_repr(value: Any) -> str:
    """Return the repr of a value in one short, printable line."""
    try:
        text = _SHORT.repr(value)
    except Exception:  # a user's __repr__, or an int beyond sys.get_int_max_str_digits()
        return f"a value of type {type(value).__name__}"
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Escape control characters and lone surrogates."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(text: str) -> str:
    """Return a printable text; a long one is cut in the middle."""
    half = _MAX_CHARS // 2
    return printable(text if len(text) <= _MAX_CHARS else f"{text[:half]}...{text[-half:]}")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for the closest known name, or ""."""
    import difflib

    likely = difflib.get_close_matches(wrong, list(known), n=1)
    return f"; did you mean {likely[0]}?" if likely else ""


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an argument in ``least``..``most`` as an int; a bool is not an int."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None or whole < least or (most is not None and whole > most):
        range_ = f"of at least {least}" if most is None else f"in {least}..{most}"
        raise ConfigError(f"{name}: expected an int {range_}, got {short_repr(value)}")
    return whole


def number(
    name: str, value: Any, expected: str, fits: Callable[[float], bool] = lambda _: True
) -> float:
    """Return an argument that ``fits`` as a finite float."""
    result = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
    if not (math.isfinite(result) and fits(result)):
        raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")
    return result


def elements(name: str, value: Any, expected: str) -> list[Any]:
    """Return the elements of an iterable argument; strings and mappings are refused."""
    if not isinstance(value, str | bytes | Mapping):
        try:
            iterator = iter(value)
        except TypeError:
            pass
        else:
            return list(iterator)
    raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ConfigError unless an argument is one of the choices."""
    known = list(choices)
    if not (isinstance(value, str) and value in known):
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        words = ", ".join(f'"{word}"' for word in known)
        raise ConfigError(f"{name}: expected one of {words}, got {short_repr(value)}{hint}")


def check_type(name: str, value: Any, kind: type | UnionType, expected: str) -> None:
    """Raise ConfigError unless an argument is an instance of a type."""
    if not isinstance(value, kind):
        raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")


def check_flag(name: str, value: Any) -> None:
    """Raise ConfigError unless an argument is a bool."""
    check_type(name, value, bool | np.bool_, "a bool")


def check_callback(name: str, value: Any) -> None:
    """Raise ConfigError unless an argument is callable or None."""
    if value is not None and not callable(value):
        raise ConfigError(f"{name}: expected a function or None, got {repr_with_type(value)}")
