"""Problems of a user's own, by functions from node to successors and estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from pyengine import _core
from pyengine.base.arguments import in_one_line
from pyengine.errors import ConfigError
from pyengine.exact.question import Question, is_zero

__all__ = ["PathProblem", "search_own"]


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


def search_own(problem: Any, question: Question) -> dict[str, Any]:
    if not callable(getattr(problem, "successors", None)):
        raise ConfigError(
            "problem: expected a Graph, a Grid, a SlidingPuzzle or an object with successors(node) "
            f"and heuristic(node), found {in_one_line(problem)}"
        )
    heuristic = question.h
    if heuristic is None:
        heuristic = getattr(problem, "heuristic", None)
    if is_zero(heuristic):
        heuristic = None
    elif not callable(heuristic):
        raise ConfigError(
            f"h: expected heuristic(node), a function or 0, found {in_one_line(heuristic)}"
        )
    found: dict[str, Any] = _core.search_problem(
        question.call, question.start, problem.successors, heuristic, _test_of(question.goals)
    )
    return found


def _test_of(goals: Any) -> Callable[[Any], bool]:
    if callable(goals):
        test: Callable[[Any], bool] = goals
        return test
    several = isinstance(goals, (list, set, frozenset, Iterator))
    try:
        nodes = frozenset(goals if several else [goals])
    except TypeError:
        raise ConfigError(f"goals: expected hashable nodes, found {in_one_line(goals)}") from None
    if not nodes:
        raise ConfigError("goals: expected at least one, found none")
    return nodes.__contains__
