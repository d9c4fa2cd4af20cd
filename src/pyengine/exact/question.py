"""The arguments of :func:`pyengine.astar` and their conversion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError


@dataclass(frozen=True)
class Question:
    """The part of a call of :func:`astar` that a problem interprets."""

    call: Any
    start: Any
    goals: Any
    h: Any


def listed(goals: Any, is_node: Callable[[Any], bool]) -> list[Any]:
    """Return the goals as a list; ``goals`` is one node or an iterable of nodes."""
    if is_node(goals) or not isinstance(goals, Iterable):
        return [goals]
    several = list(goals)
    if not several:
        raise ConfigError("goals: expected at least one, got none")
    return several


def is_integer(node: Any) -> bool:
    return isinstance(node, (int, np.integer)) or (isinstance(node, np.ndarray) and node.ndim == 0)


def is_integers(node: Any) -> bool:
    sequence = isinstance(node, (tuple, list, np.ndarray))
    return sequence and len(node) > 0 and all(is_integer(item) for item in node)


def estimates(h: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(h)
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise ConfigError(
            f"h: expected numbers of shape {shape}, got {array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def heuristic_name(h: Any, own: str, names: tuple[str, ...]) -> str:
    if h is None:
        return own
    if is_zero(h):
        return "none"
    if isinstance(h, str):
        if h not in names:
            raise ConfigError(f"h: expected one of {', '.join(names)}, got {short_repr(h)}")
        return h
    return "array"


def is_zero(h: Any) -> bool:
    return isinstance(h, (int, float, np.number)) and not isinstance(h, bool) and h == 0
