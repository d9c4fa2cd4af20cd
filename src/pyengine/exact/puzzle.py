"""The sliding puzzle."""

from __future__ import annotations

from typing import Any

from pyengine import _core
from pyengine.base.checks import integer, short_repr
from pyengine.errors import ConfigError
from pyengine.exact.problem_inputs import heuristic_name, is_integers, list_goals


class SlidingPuzzle:
    """The sliding puzzle with ``rows`` by ``columns`` cells, 2 to 16 in total; a move costs 1.

    Nodes are tuples of tiles, row by row from the top left, 0 = blank. Unless a side is 1,
    unreachable goals are recognised without a search.

    Raises:
        ConfigError: a side below 1, or more than 16 cells.

    Example:
        >>> import pyengine
        >>> puzzle = pyengine.SlidingPuzzle(3, 3)
        >>> pyengine.astar(puzzle, (1, 4, 2, 3, 0, 5, 6, 7, 8), (0, 1, 2, 3, 4, 5, 6, 7, 8)).cost
        2.0
    """

    _HEURISTICS = ("misplaced", "manhattan", "linear_conflict")

    def __init__(self, rows: int, columns: int) -> None:
        self._sides = integer("rows", rows, 1, 16), integer("columns", columns, 1, 16)
        self._puzzle = _core.PathPuzzle(*self._sides)

    def __reduce__(self) -> tuple[Any, ...]:
        return SlidingPuzzle, self._sides

    def __repr__(self) -> str:
        rows, columns = self._sides
        return f"SlidingPuzzle(rows={rows}, columns={columns})"

    def _search(self, call: _core.PathCall, start: Any, goals: Any, h: Any) -> dict[str, Any]:
        heuristic = heuristic_name(h, "linear_conflict", self._HEURISTICS)
        if heuristic == "array":
            expected = ", ".join(self._HEURISTICS)
            raise ConfigError(f"h: expected 0 or one of {expected}, got {short_repr(h)}")
        targets = [_tiles("goals", goal) for goal in list_goals(goals, is_integers)]
        return self._puzzle.search(call, _tiles("start", start), targets, heuristic)


def _tiles(name: str, node: Any) -> list[int]:
    try:
        return [integer(name, tile, 0, 15) for tile in node]
    except (TypeError, ConfigError):
        raise ConfigError(f"{name}: expected a tuple of tiles, got {short_repr(node)}") from None
