"""The call: :func:`astar`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from pyengine import _core
from pyengine.base.arguments import check_choice, check_flag, in_one_line, number
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.exact.graph import Graph
from pyengine.exact.grid import Grid
from pyengine.exact.path_problem import PathProblem, search_own
from pyengine.exact.path_result import AStarResult
from pyengine.exact.puzzle import SlidingPuzzle
from pyengine.exact.question import Question

__all__ = ["astar"]

_METHODS = ("astar", "ida")


def astar(
    problem: Graph | Grid | SlidingPuzzle | PathProblem,
    start: Any,
    goals: Any,
    *,
    h: Any = None,
    method: str = "astar",
    weight_g: float = 1.0,
    weight_h: float = 1.0,
    seconds: float | None = None,
    memory_limit: int = 2 * 2**30,
    keep_status: bool = False,
    on_progress: Callable[[AStarResult], bool | None] | None = None,
) -> AStarResult:
    """Return a path from ``start`` to the nearest of ``goals``.

    The node with the least ``weight_g * g + weight_h * h`` is expanded next, ``g`` the cost of the
    way to it and ``h`` the estimate of the cost to a goal; ties go to goals, then to the larger
    ``g``. A closed node is opened again where a cheaper way to it is found, so that any ``h`` that
    never exceeds the cost to a goal gives the least cost, consistent or not.

    Args:
        problem: a :class:`Graph`, a :class:`Grid`, a :class:`SlidingPuzzle` or an object with
            ``successors(node)`` and ``heuristic(node)`` (:class:`PathProblem`).
        start: a node.
        goals: a node, or an iterable of nodes; for a user's problem, where a tuple may be a node, a
            list, a set or an iterator of nodes, or a function from a node to bool.
        h: None: the problem's own (a graph's ``h``, or 0; a grid's ``"manhattan"`` or, with 8
            neighbours, ``"octile"``; a puzzle's ``"linear_conflict"``; an object's
            ``heuristic``). 0: Dijkstra's algorithm. A name: those, ``"euclidean"`` (grids),
            ``"manhattan"`` and ``"misplaced"`` (puzzles). An array: ``float64[nodes]`` of a graph,
            ``float64[H, W]`` of a grid. A function from a node to a number, for a user's problem.
        method: ``"astar"``, or ``"ida"``: depth-first search below a growing bound of f, which
            holds one path in memory and is made for puzzles. It does not know what it has seen:
            where many paths lead to a node it searches each of them, and where no goal can be
            reached it may not end.
        weight_g, weight_h: at least 0, not both 0. ``weight_h=0`` is Dijkstra's algorithm,
            ``weight_g=0`` greedy best-first search (without reopening), ``weight_h=w`` weighted A*,
            whose cost is at most ``w`` times the least.
        seconds: a limit of wall time, above 0.
        memory_limit: a cap in bytes on what the search holds; an object's node counts as 256.
        keep_status: fill ``status`` of the result, for graphs and grids.
        on_progress: called about ten times a second with the result so far; returning False stops.

    Raises:
        ConfigError: a node that is none of the problem's, a blocked start, no goal, weights, dtypes
            or limits that do not fit, a cost or an estimate that is negative or NaN.
        KeyboardInterrupt: after Ctrl-C, within 0.1 s.

    An array of estimates that is not consistent costs one more search, without it, to learn whether
    the path is optimal.

    Sources: Hart, Nilsson, Raphael 1968; Pohl 1970 (weights); Korf 1985 (IDA*).

    Example:
        >>> import numpy as np, pyengine
        >>> grid = pyengine.Grid(np.ones((100, 100), dtype=bool), connectivity=8)
        >>> result = pyengine.astar(grid, (0, 0), [(99, 99), (50, 0)])
        >>> result.cost, result.path[-1], result.optimal
        (50.0, (50, 0), True)
    """
    begun = time.perf_counter()
    weight_g, weight_h = _weights(weight_g, weight_h)
    check_choice("method", method, _METHODS)
    check_flag("keep_status", keep_status)
    if method == "ida" and weight_g == 0:
        raise ConfigError("weight_g: expected a number above 0 with method='ida', found 0")
    call = _core.PathCall(
        method,
        weight_g,
        weight_h,
        _seconds(seconds),
        min(integer("memory_limit", memory_limit, 1), 2**63),
        bool(keep_status),
        _progress(on_progress),
    )
    question = Question(call, start, goals, 0 if weight_h == 0 else h)
    if isinstance(problem, (Graph, Grid, SlidingPuzzle)):
        found = problem._search(question)
    else:
        found = search_own(problem, question)
    found["path"] = found["path"] if found["stop_reason"] == "found" else None
    status = found.pop("status", None)
    return AStarResult(
        **found,
        status=None if status is None or status.size == 0 else status,
        seconds=time.perf_counter() - begun,
    )


def _progress(on_progress: Callable[[AStarResult], bool | None] | None) -> Any:
    if on_progress is None:
        return None
    if not callable(on_progress):
        raise ConfigError(f"on_progress: expected a function, found {in_one_line(on_progress)}")

    def tell(expanded: int, generated: int, reopened: int, seconds: float) -> bool | None:
        return on_progress(
            AStarResult(
                path=None,
                cost=math.inf,
                expanded=expanded,
                generated=generated,
                reopened=reopened,
                optimal=False,
                bound=math.inf,
                stop_reason="running",
                seconds=seconds,
                bytes=0,
            )
        )

    return tell


def _weights(weight_g: Any, weight_h: Any) -> tuple[float, float]:
    weights = []
    for name, weight in (("weight_g", weight_g), ("weight_h", weight_h)):
        expected = "a finite number of at least 0"
        weights.append(number(name, weight, expected, lambda given: given >= 0))
    if weights == [0.0, 0.0]:
        raise ConfigError("weight_g, weight_h: expected one of them above 0, found 0 and 0")
    return weights[0], weights[1]


def _seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, float) and seconds == math.inf:
        return math.inf
    return number("seconds", seconds, "a number > 0 or None", lambda given: given > 0)
