"""Wrong argument values, and a check of the error that they cause."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import pyengine

#: By name.
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
    """Return the values with these names."""
    return {name: WRONG[name] for name in names}


def all_but(*names: str) -> dict[str, Any]:
    """Return all values except some."""
    return {name: value for name, value in WRONG.items() if name not in names}


def no_paths() -> dict[str, Any]:
    """Return all values that are not paths."""
    return {**all_but("text"), "empty": "", "half a pair": "\ud800"}


def check_refused(
    call: Callable[[Any], object],
    values: dict[str, Any],
    said: str,
    kinds: type[Exception] | tuple[type[Exception], ...] = pyengine.ConfigError,
) -> None:
    """Check that each value raises an error whose short message contains ``said``."""
    for name, value in values.items():
        with pytest.raises(pyengine.EngineError) as refused:
            call(value)
        assert isinstance(refused.value, kinds), (name, refused.value)
        message = str(refused.value)
        assert said in message, (name, message)
        assert message.isprintable(), (name, message)
        # The list of fields may be longer.
        assert len(re.split("[;?] [tT]he fields are ", message)[0]) < _MOST, (name, message)


def cases(table: Iterable[tuple[str, Any, dict[str, Any], str]]) -> Any:
    """Return rows (label, call, values, text of the message) as parameters of a test."""
    return pytest.mark.parametrize(
        ("call", "values", "said"), [pytest.param(*row[1:], id=row[0]) for row in table]
    )
