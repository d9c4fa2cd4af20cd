"""Shortest paths: :func:`astar`, its result, and problems of a user's own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyengine import _core
from pyengine.base.arguments import check_callback, check_choice, check_flag, number, short_repr
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.exact.graph import Graph
from pyengine.exact.grid import Grid
from pyengine.exact.puzzle import SlidingPuzzle
from pyengine.exact.question import Question, is_zero


class PathProblem(Protocol):
    """What a user's own problem has; nodes are hashable objects.

    Example:
        >>> import pyengine
        >>> class Doubling:  # from 1 to a number by +1 and *2
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
        """Return an estimate of the cost to a goal, at least 0; infinity = it cannot be reached."""


@dataclass(frozen=True, kw_only=True)
class AStarResult:
    """What a path search found: plain values.

    Attributes:
        path: nodes from the start to a goal, both included; None where none was found.
        cost: sum of the costs of its edges; infinity where none was found.
        expanded: nodes whose successors were made; a reopened node counts again.
        generated: successors that were made, known ones included.
        reopened: how often a cheaper path led to a node that was closed already, which a consistent
            heuristic rules out.
        optimal: whether no path is cheaper. Known for graphs, grids and sliding puzzles; for a
            user's problem it holds if the heuristic never exceeds the cost to a goal, and is False
            where the path itself shows that it does.
        bound: the cost is at most so many times the least one, if the heuristic never exceeds the
            cost to a goal: ``weight_h / weight_g``, at least 1 (the square root of 2 times that for
            ``"manhattan"`` with 8 neighbours); infinity where nothing is known.
        stop_reason: ``"found"``; ``"exhausted"``: no goal can be reached; ``"seconds"``,
            ``"memory"``: a limit; ``"stopped"``: by ``on_progress``. ``"running"`` in what
            ``on_progress`` is given.
        seconds: of the call.
        bytes: memory that the search held at its end.
        status: with ``keep_status=True``, of graphs ``uint8[nodes]``, of grids ``uint8[H, W]``:
            0 unseen, 1 open, 2 closed. None with ``method="ida"``, which keeps none, and where the
            memory cap left no room for it.
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
    status: NDArray[np.uint8] | None = field(default=None, repr=False, compare=False)

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
        ConfigError: an unknown node, a blocked start, no goal, weights, dtypes
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
    check_choice("method", method, ("astar", "ida"))
    check_flag("keep_status", keep_status)
    check_callback("on_progress", on_progress)
    weight_g, weight_h = _weight("weight_g", weight_g), _weight("weight_h", weight_h)
    if weight_g == weight_h == 0:
        raise ConfigError("weight_g, weight_h: expected one of them above 0, got 0 and 0")
    if method == "ida" and weight_g == 0:
        raise ConfigError("weight_g: expected a number above 0 with method='ida', got 0")
    if seconds is not None and not (isinstance(seconds, float) and seconds == math.inf):
        seconds = number("seconds", seconds, "a number > 0 or None", lambda given: given > 0)
    call = _core.PathCall(
        method,
        weight_g,
        weight_h,
        seconds,
        min(integer("memory_limit", memory_limit, 1), 2**63),
        bool(keep_status),
        None if on_progress is None else _progress(on_progress),
    )
    question = Question(call, start, goals, 0 if weight_h == 0 else h)
    if isinstance(problem, (Graph, Grid, SlidingPuzzle)):
        answer = problem._search(question)
    else:
        answer = _search_own(problem, question)
    if answer["stop_reason"] != "found":
        answer["path"] = None
    status = answer.pop("status", None)
    return AStarResult(
        **answer,
        status=None if status is None or status.size == 0 else status,
        seconds=time.perf_counter() - begun,
    )


def _progress(on_progress: Callable[[AStarResult], bool | None]) -> Callable[..., bool | None]:
    def report(expanded: int, generated: int, reopened: int, seconds: float) -> bool | None:
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

    return report


def _weight(name: str, weight: Any) -> float:
    return number(name, weight, "a finite number of at least 0", lambda given: given >= 0)


def _search_own(problem: Any, question: Question) -> dict[str, Any]:
    if not callable(getattr(problem, "successors", None)):
        raise ConfigError(
            "problem: expected a Graph, a Grid, a SlidingPuzzle or an object with successors(node) "
            f"and heuristic(node), got {short_repr(problem)}"
        )
    h = getattr(problem, "heuristic", None) if question.h is None else question.h
    if is_zero(h):
        h = None
    elif not callable(h):
        raise ConfigError(f"h: expected heuristic(node), a function or 0, got {short_repr(h)}")
    return _core.search_problem(
        question.call, question.start, problem.successors, h, _is_goal(question.goals)
    )


def _is_goal(goals: Any) -> Callable[[Any], bool]:
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
