"""Whole numbers that a caller gives."""

from __future__ import annotations

import operator
from typing import Any

from pyengine.base.arguments import short_repr
from pyengine.errors import ConfigError


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an argument as an int.

    Raises:
        ConfigError: it is no whole number of at least ``least`` and at most ``most``; names it.

    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        range_ = f"of at least {least}" if most is None else f"in {least}..{most}"
        raise ConfigError(f"{name}: expected an int {range_}, got {short_repr(value)}")
    return number
