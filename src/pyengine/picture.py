"""A board as a picture (SVG), for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.board_layout import labels, last_point, point_of
from pyengine.games import State

__all__ = ["board_svg"]

_CELL = 32  # pixels of a point's square
_MARGIN = 22  # for the names of the lines
_LEAST_SHARE = 0.005  # that is shown
_ON_LINES = ("go", "gomoku")  # games whose stones stand where lines meet


def board_svg(state: Any, policy: npt.NDArray[np.float32], best: int) -> str:
    """Return the board with stones, the last move, and where visits went.

    Args:
        state: a :class:`~pyengine.State`; the empty text is returned for anything without a board.
        policy: float32 [A], the share of each action; actions are points or columns.
        best: the action to be framed.

    """
    game = getattr(state, "game", None)
    if game is None or not getattr(game, "has_board", False):
        return ""
    rows, columns = game.board_shape
    width, height = columns * _CELL + _MARGIN, rows * _CELL + _MARGIN
    layers = (
        _grid(state),
        _names(state),
        _stones(state),
        _last(state),
        _shares(state, policy),
        _frame(state, best),
    )
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="#e8c98a"/>',
            *chain.from_iterable(layers),
            "</svg>",
        ]
    )


def _center(row: float, column: float) -> tuple[float, float]:
    """x and y of the middle of a point's square."""
    return _MARGIN + (column + 0.5) * _CELL, (row + 0.5) * _CELL


def _grid(state: State) -> Iterator[str]:
    """Lines through the points, or round them."""
    rows, columns = state.game.board_shape
    shift = 0.0 if state.game.name in _ON_LINES else -0.5
    more = 0 if shift == 0.0 else 1
    down, right = rows - 1 + more, columns - 1 + more
    for row in range(down + 1):
        yield _line(_center(row + shift, shift), _center(row + shift, right + shift))
    for column in range(right + 1):
        yield _line(_center(shift, column + shift), _center(down + shift, column + shift))


def _line(begin: tuple[float, float], end: tuple[float, float]) -> str:
    return (
        f'<line x1="{begin[0]:g}" y1="{begin[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" '
        'stroke="#8d6f3a"/>'
    )


def _names(state: State) -> Iterator[str]:
    rows, columns = state.game.board_shape
    left, bottom = labels(state)
    for row in range(rows):
        yield _text(_MARGIN / 2, _center(row, 0)[1] + 4, left[row], 12, "#5a431a")
    for column in range(columns):
        y = rows * _CELL + _MARGIN * 0.7
        yield _text(_center(0, column)[0], y, bottom[column], 12, "#5a431a")


def _text(x: float, y: float, text: str, size: int, fill: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}">{text}</text>'


def _circle(point: tuple[int, int], radius: float, style: str) -> str:
    x, y = _center(*point)
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius * _CELL:g}" {style}/>'


def _stones(state: State) -> Iterator[str]:
    for row, line in enumerate(state.board_rows()):
        for column, stone in enumerate(line):
            if stone != ".":
                fill = "#111" if stone == "X" else "#fff"
                yield _circle((row, column), 0.44, f'fill="{fill}" stroke="#111"')


def _last(state: State) -> Iterator[str]:
    point = last_point(state)
    if point is not None:
        yield _circle(point, 0.2, 'fill="none" stroke="#e33" stroke-width="2.5"')


def _shares(state: State, policy: npt.NDArray[np.float32]) -> Iterator[str]:
    for action in np.flatnonzero(policy >= _LEAST_SHARE):
        share = float(policy[action])
        point = point_of(state, int(action))
        if point is None:
            continue
        yield _circle(point, 0.42, 'fill="#e8c98a"')  # hides the lines behind the number
        yield _circle(point, 0.42, f'fill="#06c" fill-opacity="{0.15 + 0.7 * share:.2f}"')
        x, y = _center(*point)
        yield _text(x, y + 4, f"{share:.0%}", 11, "#fff" if share > 0.4 else "#111")


def _frame(state: State, best: int) -> Iterator[str]:
    point = point_of(state, best)
    if point is not None:
        x, y = (part - _CELL / 2 + 1 for part in _center(*point))
        yield (
            f'<rect x="{x:g}" y="{y:g}" width="{_CELL - 2}" height="{_CELL - 2}" fill="none" '
            'stroke="#c00" stroke-width="2"/>'
        )
