"""Answers of a user's game, checked."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

from pyengine.base.checks import repr_with_type, short_repr

_TOLERANCE = 1e-6


class BrokenError(Exception):
    """A broken promise."""


def expect(condition: bool, promise: str) -> None:
    if not condition:
        raise BrokenError(promise)


def ints(name: str, answer: Any) -> list[int]:
    """Return the answer of a method that returns ints."""
    try:
        return [operator.index(item) for item in answer]
    except TypeError:
        raise BrokenError(
            f"{name}() must be a list of ints, got {repr_with_type(answer)}"
        ) from None


def legal_of(state: Any) -> list[int]:
    return ints("legal_actions", state.legal_actions())


def two_numbers(name: str, answer: Any) -> list[float]:
    try:
        numbers = [] if isinstance(answer, Mapping) else [float(item) for item in answer]
    except (TypeError, ValueError):
        numbers = []
    expect(len(numbers) == 2, f"{name}() must be two numbers, got {short_repr(answer)}")
    return numbers


def check_returns(name: str, returns: list[float], most: float) -> None:
    """Check the returns of both players; ``most`` is max_utility."""
    expect(all(map(math.isfinite, returns)), f"{name}() must be finite, got {returns}")
    expect(abs(sum(returns)) <= _TOLERANCE * most, f"{name}() must be zero-sum: {returns}")
    expect(
        max(map(abs, returns)) <= most * (1 + _TOLERANCE),
        f"{name}() must lie within [-{most}, {most}] (max_utility), got {returns}",
    )
