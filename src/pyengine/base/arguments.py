"""What a caller gives, held against what it must be: each error names the argument."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from types import UnionType
from typing import Any

import numpy as np

from pyengine.errors import ConfigError


def repr_with_type(value: Any) -> str:
    """Return a value with its type for a message, in one line and shortened."""
    return f"{short_repr(value)} ({type(value).__name__})"


def short_repr(value: Any) -> str:
    """Return a value for a message, in one line of printable characters and shortened."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # sys.get_int_max_str_digits()
        return "an int of thousands of digits"
    except Exception:  # of a user's __repr__ or __class__: the message tells another fault
        return f"a {type(value).__name__} that has no text"
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return a text with escapes for what would move a terminal's cursor, or is no character."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(text: str) -> str:
    """Return a caller's text for a message, printable; of a long one both ends."""
    half = _MOST // 2
    return printable(text if len(text) <= _MOST else f"{text[:half]}...{text[-half:]}")


#: Of a message's 300 characters a value may have about 100; so many tell most paths. The core has
#: the same limit (src/cpp/base/text.h).
_MOST = 100


def _short() -> reprlib.Repr:
    short = reprlib.Repr()
    short.maxstring = short.maxother = _MOST
    return short


_SHORT = _short()


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ConfigError where an argument is none of some words."""
    known = list(choices)
    if not (isinstance(value, str) and value in known):
        meant = did_you_mean(value, known) if isinstance(value, str) else ""
        words = ", ".join(f'"{word}"' for word in known)
        raise ConfigError(f"{name}: expected one of {words}, got {short_repr(value)}{meant}")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return the end of a message, the known name that was perhaps meant; "" where none is near."""
    import difflib

    likely = difflib.get_close_matches(wrong, list(known), n=1)
    return f"; did you mean {likely[0]}?" if likely else ""


def text_is_a_name(text: Any) -> str:
    """Return the end of a message about TOML, where its text is perhaps the name of a file."""
    named = isinstance(text, str) and text.endswith(".toml")
    return "; the file of that name is Path(...)" if named else ""


def number(
    name: str, value: Any, expected: str, fits: Callable[[float], bool] = lambda _: True
) -> float:
    """Return an argument as a finite float. Raises ConfigError where it is none that fits."""
    given = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            given = float(value)
        except OverflowError:
            given = math.inf
    if not (math.isfinite(given) and fits(given)):
        raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")
    return given


def elements(name: str, value: Any, expected: str) -> list[Any]:
    """Return the elements of an argument. Raises ConfigError for a text or what has none."""
    if not isinstance(value, str | bytes | Mapping):
        try:
            each = iter(value)
        except TypeError:
            pass
        else:
            return list(each)
    raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")


def check_type(name: str, value: Any, kind: type | UnionType, expected: str) -> None:
    """Raise ConfigError where an argument is of another type."""
    if not isinstance(value, kind):
        raise ConfigError(f"{name}: expected {expected}, got {repr_with_type(value)}")


def check_flag(name: str, value: Any) -> None:
    """Raise ConfigError where an argument is neither True nor False."""
    check_type(name, value, bool | np.bool_, "a bool")


def check_callback(name: str, value: Any) -> None:
    """Raise ConfigError where an argument is neither None nor can be called."""
    if value is not None and not callable(value):
        raise ConfigError(f"{name}: expected a function or None, got {repr_with_type(value)}")
