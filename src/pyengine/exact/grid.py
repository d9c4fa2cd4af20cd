"""Grids with 4 or 8 neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pyengine import _core
from pyengine.base.checks import check_flag, integer, short_repr
from pyengine.errors import ConfigError
from pyengine.exact.problem_inputs import estimates, heuristic_name, is_integers, list_goals


class Grid:
    """A rectangular grid of free and blocked cells; nodes are ``(row, column)``.

    Args:
        free: ``bool[H, W]``, True = passable; copied.
        connectivity: 4, or 8 to add diagonal moves, which cost the square root of 2.
        corner_cutting: whether a diagonal move may pass a blocked cell; if False, both cells beside
            it must be free.

    Raises:
        ConfigError: an argument of the wrong type, shape or value.

    Example:
        >>> import numpy as np, pyengine
        >>> free = np.ones((3, 3), dtype=bool)
        >>> free[1, :2] = False
        >>> pyengine.astar(pyengine.Grid(free), (0, 0), (2, 0)).cost
        6.0
    """

    _HEURISTICS = ("manhattan", "octile", "euclidean")

    def __init__(
        self, free: ArrayLike, connectivity: int = 4, corner_cutting: bool = False
    ) -> None:
        cells = np.asarray(free)
        if cells.dtype != np.bool_ or cells.ndim != 2 or cells.size == 0:
            raise ConfigError(
                "free: expected a bool array of rows and columns, "
                f"got {cells.dtype} of shape {cells.shape}"
            )
        if not isinstance(connectivity, int) or connectivity not in (4, 8):
            raise ConfigError(f"connectivity: expected 4 or 8, got {short_repr(connectivity)}")
        check_flag("corner_cutting", corner_cutting)
        self._free = np.array(cells, order="C")
        self._default_heuristic = "manhattan" if connectivity == 4 else "octile"
        self._moves = int(connectivity), bool(corner_cutting)
        self._grid = _core.PathGrid(self._free, *self._moves)

    def __reduce__(self) -> tuple[Any, ...]:
        return Grid, (self._free, *self._moves)

    def __repr__(self) -> str:
        rows, columns = self._free.shape
        return f"Grid({rows} x {columns}, {np.count_nonzero(self._free):,} passable)"

    def _search(self, call: _core.PathCall, start: Any, goals: Any, h: Any) -> dict[str, Any]:
        cell = self._cell("start", start)
        if not self._free.flat[cell]:
            raise ConfigError(
                f"start: expected a free cell, got the blocked cell {short_repr(start)}"
            )
        targets = [self._cell("goals", goal) for goal in list_goals(goals, is_integers)]
        heuristic = heuristic_name(h, self._default_heuristic, self._HEURISTICS)
        array = estimates(h, self._free.shape) if heuristic == "array" else None
        answer = self._grid.search(call, cell, np.array(targets, np.int64), heuristic, array)
        rows, columns = np.divmod(answer["path"], self._free.shape[1])
        answer["path"] = list(zip(rows.tolist(), columns.tolist(), strict=True))
        if answer["status"].size:
            answer["status"] = answer["status"].reshape(self._free.shape)
        return answer

    def _cell(self, name: str, node: Any) -> int:
        height, width = self._free.shape
        try:
            row, column = node
            cell = integer(name, row, 0, height - 1) * width
            return int(cell + integer(name, column, 0, width - 1))
        except (TypeError, ValueError):  # ConfigError too
            raise ConfigError(
                f"{name}: expected a cell (row, column) below ({height}, {width}), "
                f"got {short_repr(node)}"
            ) from None
