"""Shortest paths: :func:`astar`, its result, and the interface of users' problems."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyengine import _core
from pyengine.base.checks import (
    check_callback,
    check_choice,
    check_flag,
    integer,
    number,
    short_repr,
)
from pyengine.errors import ConfigError
from pyengine.exact.graph import Graph
from pyengine.exact.grid import Grid
from pyengine.exact.problem_inputs import is_zero
from pyengine.exact.puzzle import SlidingPuzzle


class PathProblem(Protocol):
    """The interface of a user's problem; nodes are hashable objects.

    Example:
        >>> import pyengine
        >>> class Doubling:  # reach a number from 1 by +1 and *2
        ...     def successors(self, node):
        ...         return [(node + 1, 1), (node * 2, 1)]
        ...     def heuristic(self, node):
        ...         return 0
        >>> pyengine.astar(Doubling(), 1, 10).path
        [1, 2, 4, 5, 10]
    """

    def successors(self, node: Any) -> Iterable[tuple[Any, float]]:
        """Return pairs of a node and the cost of the edge to it, finite and at least 0."""

    def heuristic(self, node: Any) -> float:
        """Return the estimated cost to a goal, at least 0; infinity = unreachable."""


@dataclass(frozen=True, kw_only=True)
class AStarResult:
    """The result of a path search.

    Attributes:
        path: nodes from the start to a goal, inclusive; None if no path was found.
        cost: total cost of the path; infinity if no path was found.
        expanded: number of expanded nodes; a reopened node counts again.
        generated: number of generated successors, including known ones.
        reopened: how often a cheaper path led to a closed node, which a consistent heuristic rules
            out.
        optimal: whether no path is cheaper. Proven for graphs, grids and sliding puzzles; for a
            user's problem it relies on an admissible heuristic, and is False if the path itself
            shows that the heuristic is not.
        bound: with an admissible heuristic, the cost is at most this multiple of the least cost:
            ``weight_h / weight_g``, at least 1 (times the square root of 2 for ``"manhattan"`` with
            8 neighbours); infinity if unknown.
        stop_reason: ``"found"``; ``"exhausted"``: no goal can be reached; ``"seconds"`` or
            ``"memory"``: a limit; ``"stopped"``: by ``on_progress``; ``"running"``: in calls of
            ``on_progress``.
        bytes: memory held at the end of the search.
        status: with ``keep_status=True``, ``uint8[nodes]`` for graphs and ``uint8[H, W]`` for
            grids: 0 unseen, 1 open, 2 closed. None with ``method="ida"``, or if the memory limit
            left no room for it.
    """

    path: list[Any] | None
    cost: float
    expanded: int
    generated: int
    reopened: int
    optimal: bool
    bound: float
    stop_reason: str
    seconds: float
    bytes: int
    status: NDArray[np.uint8] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        path = None if self.path is None else f"{len(self.path):,} nodes"
        return (
            f"AStarResult(path={path}, cost={self.cost:g}, expanded={self.expanded}, "
            f"optimal={self.optimal}, stop_reason={self.stop_reason!r})"
        )


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

    The node with the least ``weight_g * g + weight_h * h`` is expanded next; ``g`` is the cost
    of the path to it and ``h`` the estimated cost to a goal; ties go to goals, then to the larger
    ``g``. A closed node is reopened if a cheaper path to it is found, so any admissible ``h`` gives
    the least cost, consistent or not.

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
        method: ``"astar"``, or ``"ida"``: depth-first search with an increasing bound on f, which
            stores a single path and suits puzzles. It does not remember visited nodes: if many
            paths lead to a node it searches each of them, and if no goal can be reached it may not
            terminate.
        weight_g, weight_h: at least 0, not both 0. ``weight_h=0`` is Dijkstra's algorithm,
            ``weight_g=0`` greedy best-first search (without reopening), ``weight_h=w`` weighted A*,
            whose cost is at most ``w`` times the least.
        seconds: wall-time limit, above 0.
        memory_limit: limit in bytes; a node of a user's problem counts as 256 bytes.
        keep_status: fill ``status`` of the result, for graphs and grids.
        on_progress: called about ten times a second with the result so far; returning False stops.

    Raises:
        ConfigError: an unknown node, a blocked start, no goals, invalid weights, dtypes or limits,
            or a negative or NaN cost or estimate.
        KeyboardInterrupt: after Ctrl-C, within 0.1 s.

    If an array of estimates is not consistent, a second search without it determines whether the
    path is optimal.

    Sources: Hart, Nilsson, Raphael 1968; Pohl 1970 (weights); Korf 1985 (IDA*).

    Example:
        >>> import numpy as np, pyengine
        >>> grid = pyengine.Grid(np.ones((100, 100), dtype=bool), connectivity=8)
        >>> result = pyengine.astar(grid, (0, 0), [(99, 99), (50, 0)])
        >>> result.cost, result.path[-1], result.optimal
        (50.0, (50, 0), True)
    """
    begun = time.perf_counter()
    check_choice("method", method, ("astar", "ida"))
    check_flag("keep_status", keep_status)
    check_callback("on_progress", on_progress)
    weights = "a finite number of at least 0"
    weight_g = number("weight_g", weight_g, weights, lambda weight: weight >= 0)
    weight_h = number("weight_h", weight_h, weights, lambda weight: weight >= 0)
    if weight_g == weight_h == 0:
        raise ConfigError("weight_g, weight_h: expected one of them above 0, got 0 and 0")
    if method == "ida" and weight_g == 0:
        raise ConfigError("weight_g: expected a number above 0 with method='ida', got 0")
    if seconds is not None:
        seconds = number("seconds", seconds, "a number > 0 or None", lambda given: given > 0)
    call = _core.PathCall(
        method,
        weight_g,
        weight_h,
        seconds,
        integer("memory_limit", memory_limit, 1, 2**63 - 1),
        bool(keep_status),
        None if on_progress is None else _progress(on_progress),
    )
    if weight_h == 0:
        h = 0
    if isinstance(problem, (Graph, Grid, SlidingPuzzle)):
        answer = problem._search(call, start, goals, h)
    else:
        answer = _search_users_problem(problem, call, start, goals, h)
    if answer["stop_reason"] != "found":
        answer["path"] = None
    if "status" in answer and answer["status"].size == 0:
        answer["status"] = None
    return AStarResult(**answer, seconds=time.perf_counter() - begun)


def _progress(on_progress: Callable[[AStarResult], bool | None]) -> Callable[..., bool | None]:
    def report(expanded: int, generated: int, reopened: int, seconds: float) -> bool | None:
        result = AStarResult(
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
        return on_progress(result)

    return report


def _search_users_problem(
    problem: Any, call: _core.PathCall, start: Any, goals: Any, h: Any
) -> dict[str, Any]:
    if not callable(getattr(problem, "successors", None)):
        raise ConfigError(
            "problem: expected a Graph, a Grid, a SlidingPuzzle or an object with successors(node) "
            f"and heuristic(node), got {short_repr(problem)}"
        )
    if h is None:
        h = getattr(problem, "heuristic", None)
    if is_zero(h):
        h = None
    elif not callable(h):
        raise ConfigError(f"h: expected heuristic(node), a function or 0, got {short_repr(h)}")
    return _core.search_problem(call, start, problem.successors, h, _goal_test(goals))


def _goal_test(goals: Any) -> Callable[[Any], bool]:
    if callable(goals):
        return goals  # type: ignore[no-any-return]
    several = isinstance(goals, (list, set, frozenset, Iterator))
    try:
        nodes = frozenset(goals if several else [goals])
    except TypeError:
        raise ConfigError(f"goals: expected hashable nodes, got {short_repr(goals)}") from None
    if not nodes:
        raise ConfigError("goals: expected at least one, got none")
    return nodes.__contains__
