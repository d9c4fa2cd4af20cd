"""Area scoring in Go, with all stones alive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pyengine.games.game import State

_Point = tuple[int, int]


def area(rows: Sequence[str]) -> tuple[int, int]:
    """Return the points of both players for the rows of ``State.board_rows()``."""
    owned = owners(rows)
    return int((owned > 0).sum()), int((owned < 0).sum())


def owners(rows: Sequence[str]) -> npt.NDArray[np.int8]:
    """Return the owners as int8[H,W]: 1 = first player, -1 = second player, 0 = neither.

    A player owns their stones and the empty regions that only these stones touch.
    """
    owner = {"X": 1, "O": -1}
    owned = np.zeros((len(rows), len(rows[0])), np.int8)
    seen: set[_Point] = set()
    for i, row in enumerate(rows):
        for j, stone in enumerate(row):
            if stone != ".":
                owned[i, j] = owner[stone]
            elif (i, j) not in seen:
                region, borders = _region(rows, (i, j))
                seen |= region
                if len(borders) == 1:
                    owned[tuple(zip(*region, strict=True))] = owner[borders.pop()]
    return owned


def _region(rows: Sequence[str], start: _Point) -> tuple[set[_Point], set[str]]:
    """The empty region around a point, and the colours that it touches."""
    region, borders, waiting = {start}, set(), [start]
    while waiting:
        i, j = waiting.pop()
        for p in ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)):
            if not (0 <= p[0] < len(rows) and 0 <= p[1] < len(rows[0])):
                continue
            stone = rows[p[0]][p[1]]
            if stone != ".":
                borders.add(stone)
            elif p not in region:
                region.add(p)
                waiting.append(p)
    return region, borders


def score_text(state: State) -> str:
    """Return the area score of a Go position, such as ``"Black 40, White 36 + 7.5"``."""
    first, second = area(state.board_rows())
    return f"Black {first}, White {second} + {float(state.game.params['komi']):g}"
