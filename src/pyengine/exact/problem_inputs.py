"""Goals and heuristics given to :func:`pyengine.astar`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError


def list_goals(goals: Any, is_node: Callable[[Any], bool]) -> list[Any]:
    """Return the goals as a list; ``goals`` is one node or an iterable of nodes."""
    if is_node(goals) or not isinstance(goals, Iterable):
        return [goals]
    nodes = list(goals)
    if not nodes:
        raise ConfigError("goals: expected at least one, got none")
    return nodes


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


def heuristic_name(h: Any, default: str, names: tuple[str, ...]) -> str:
    if h is None:
        return default
    if is_zero(h):
        return "none"
    if not isinstance(h, str):
        return "array"
    if h not in names:
        raise ConfigError(f"h: expected one of {', '.join(names)}, got {short_repr(h)}")
    return h


def is_zero(h: Any) -> bool:
    return isinstance(h, (int, float, np.number)) and not isinstance(h, bool) and h == 0
