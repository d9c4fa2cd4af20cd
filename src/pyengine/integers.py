"""Whole numbers that a caller gives."""

from __future__ import annotations

import operator
from typing import Any

from pyengine.errors import ConfigError

__all__ = ["integer"]


def integer(name: str, value: Any, least: int) -> int:
    """Return an argument as an int.

    Raises:
        ConfigError: it is no whole number of at least ``least``; names it.

    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ConfigError(f"{name}: expected an int of at least {least}, found {value!r}")
    return number
