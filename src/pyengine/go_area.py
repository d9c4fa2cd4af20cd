"""Points by area in Go, all stones alive, as the rules of the engine count them."""

from __future__ import annotations

from collections.abc import Sequence

from pyengine.games import State

__all__ = ["area", "score_text"]

_Point = tuple[int, int]


def area(rows: Sequence[str]) -> tuple[int, int]:
    """Return the points of both players: stones, and empty regions that one of them surrounds.

    Args:
        rows: as ``State.board_rows()``.

    """
    points = {"X": 0, "O": 0}
    seen: set[_Point] = set()
    for i, row in enumerate(rows):
        for j, stone in enumerate(row):
            if stone != ".":
                points[stone] += 1
            elif (i, j) not in seen:
                region, borders = _region(rows, (i, j))
                seen |= region
                if len(borders) == 1:
                    points[borders.pop()] += len(region)
    return points["X"], points["O"]


def _region(rows: Sequence[str], start: _Point) -> tuple[set[_Point], set[str]]:
    """The empty points that hang together with one, and whose stones they touch."""
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
    """Return the score of a position of Go by area, such as ``"Black 40, White 36 + 7.5"``."""
    first, second = area(state.board_rows())
    return f"Black {first}, White {second} + {float(state.game.params['komi']):g}"
