"""Answers of a user's game, checked."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from pyengine.base.checks import repr_with_type, short_repr


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


def two_numbers(answer: Any) -> list[float]:
    try:
        numbers = [] if isinstance(answer, Mapping) else [float(item) for item in answer]
    except (TypeError, ValueError):
        numbers = []
    expect(len(numbers) == 2, f"returns() must be two numbers, got {short_repr(answer)}")
    return numbers
