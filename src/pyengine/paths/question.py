"""What a call of :func:`pyengine.astar` asks, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyengine.errors import ConfigError

__all__ = ["SEVERAL", "Question", "estimates", "heuristic_name", "is_zero", "listed"]

#: What holds several goals; everything else is a node.
SEVERAL = (list, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class Question:
    """A call of :func:`astar`: what problems need of it."""

    call: Any
    start: Any
    goals: Any
    h: Any


def listed(goals: Any) -> Collection[Any]:
    several: Collection[Any] = goals if isinstance(goals, SEVERAL) else [goals]
    if len(several) == 0:
        raise ConfigError("goals: expected at least one, found none")
    return several


def estimates(h: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(h)
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise ConfigError(
            f"h: expected numbers of shape {shape}, found {array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def heuristic_name(h: Any, own: str, names: tuple[str, ...]) -> str:
    if h is None:
        return own
    if is_zero(h):
        return "none"
    if isinstance(h, str):
        if h not in names:
            raise ConfigError(f"h: expected one of {', '.join(names)}, found {h!r}")
        return h
    return "array"


def is_zero(h: Any) -> bool:
    return isinstance(h, (int, float, np.number)) and not isinstance(h, bool) and h == 0
