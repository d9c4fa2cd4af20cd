"""What callers pass by mistake, and the one clear error that they get for it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import pyengine

#: By a name for the test's report.
WRONG: dict[str, Any] = {
    "None": None,
    "text": "junk",
    "NUL": "\0",
    "bytes": b"junk",
    "fraction": 3.5,
    "NaN": math.nan,
    "negative": -1,
    "huge": 2**70,
    "list": [],
    "dict": {},
    "tuple": (1,),
    "object": object(),
    "function": lambda state: state,
    "array": np.array([1.5]),
}

_MOST = 300  # characters of a message


def wrong(*names: str) -> dict[str, Any]:
    """Return the values of some names."""
    return {name: WRONG[name] for name in names}


def all_but(*names: str) -> dict[str, Any]:
    """Return all values but some."""
    return {name: value for name, value in WRONG.items() if name not in names}


def no_paths() -> dict[str, Any]:
    """Return all values that name no file and no folder."""
    return {**all_but("text"), "empty": "", "half a pair": "\ud800"}


def check_refused(
    call: Callable[[Any], object],
    values: dict[str, Any],
    said: str,
    kinds: type[Exception] | tuple[type[Exception], ...] = pyengine.ConfigError,
) -> None:
    """Each value raises one of these errors, whose message is one line and names the argument."""
    for name, value in values.items():
        with pytest.raises(pyengine.EngineError) as refused:
            call(value)
        assert isinstance(refused.value, kinds), (name, refused.value)
        message = str(refused.value)
        assert said in message, (name, message)
        assert message.isprintable(), (name, message)
        # All fields of a class are told, however many it has.
        assert len(re.split("[;?] [tT]he fields are ", message)[0]) < _MOST, (name, message)


def cases(table: Iterable[tuple[str, Any, dict[str, Any], str]]) -> Any:
    """Return rows (label, call, values, what the message says) as parameters of a test."""
    return pytest.mark.parametrize(
        ("call", "values", "said"), [pytest.param(*row[1:], id=row[0]) for row in table]
    )
