"""A board as a picture (SVG), for notebooks."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.games.board_layout import labels, last_point, point_of, state_text
from pyengine.games.game import State
from pyengine.games.outcomes import outcome_text
from pyengine.show.colours import colours_of

__all__ = ["board_html", "board_svg", "state_html", "text_html"]

_CELL = 32  # pixels of a point's square
_MARGIN = 22  # for the names of the lines
_ON_LINES = ("go", "gomoku")  # games whose stones stand where lines meet
_INK = "#222"  # of letters and names


def state_html(state: State) -> str:
    """Return a state for a notebook: its board and who is to move; text where it has no board."""
    return board_html(state) or text_html(state_text(state))


def board_html(
    state: Any, policy: npt.NDArray[np.float32] | None = None, best: int | None = None
) -> str:
    """Return the picture of a board and a line that says whose turn it is, as HTML.

    An image and not SVG within the page, which JupyterLab cuts out of notebooks of others. The
    arguments are those of :func:`board_svg`.
    """
    picture = board_svg(state, policy, best)
    if not picture:
        return ""
    data = base64.b64encode(picture.encode()).decode()
    image = f'<img alt="the board" src="data:image/svg+xml;base64,{data}">'
    return image + text_html(_turn(state))


def text_html(text: str) -> str:
    """Return lines in a font in which columns stay columns."""
    return f'<pre style="font-family: monospace">{html.escape(text)}</pre>'


def _turn(state: State) -> str:
    """Say who is to move, or how the game ended."""
    names = colours_of(state.game).names
    passed = bool(state.history()) and last_point(state) is None
    turn = outcome_text(state, names.__getitem__, None)
    turn = turn or f"{names[state.current_player()]} to move"
    return f"{turn}, after a pass" if passed else turn


def board_svg(
    state: Any, policy: npt.NDArray[np.float32] | None = None, best: int | None = None
) -> str:
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
        () if policy is None else _shares(state, policy),
        () if best is None else _frame(state, best),
    )
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="{colours_of(game).board}"/>',
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
    colour = colours_of(state.game).lines
    for row in range(down + 1):
        yield _line(_center(row + shift, shift), _center(row + shift, right + shift), colour)
    for column in range(right + 1):
        yield _line(_center(shift, column + shift), _center(down + shift, column + shift), colour)


def _line(begin: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    return (
        f'<line x1="{begin[0]:g}" y1="{begin[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" '
        f'stroke="{colour}"/>'
    )


def _names(state: State) -> Iterator[str]:
    rows, columns = state.game.board_shape
    left, bottom = labels(state)
    for row in range(rows):
        yield _text(_MARGIN / 2, _center(row, 0)[1] + 4, left[row], 12, _INK)
    for column in range(columns):
        y = rows * _CELL + _MARGIN * 0.7
        yield _text(_center(0, column)[0], y, bottom[column], 12, _INK)


def _text(x: float, y: float, text: str, size: int, fill: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}">{text}</text>'


def _circle(point: tuple[int, int], radius: float, style: str) -> str:
    x, y = _center(*point)
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius * _CELL:g}" {style}/>'


def _stones(state: State) -> Iterator[str]:
    fills = colours_of(state.game).stones
    for row, line in enumerate(state.board_rows()):
        for column, stone in enumerate(line):
            if stone == ".":
                continue
            if fills is None:
                x, y = _center(row, column)
                yield _text(x, y + 8, stone, 23, _INK)
            else:
                fill = fills["XO".index(stone)]
                yield _circle((row, column), 0.44, f'fill="{fill}" stroke="#111"')


def _last(state: State) -> Iterator[str]:
    point = last_point(state)
    if point is not None:
        colours = colours_of(state.game)
        radius = 0.44 if colours.stones is None else 0.2  # round a letter, within a stone
        yield _circle(point, radius, f'fill="none" stroke="{colours.mark}" stroke-width="2.5"')


def _shares(state: State, policy: npt.NDArray[np.float32]) -> Iterator[str]:
    board = colours_of(state.game).board
    for action in np.flatnonzero(policy):
        share = float(policy[action])
        text, point = f"{share:.0%}", point_of(state, int(action))
        if point is None or text == "0%":
            continue
        yield _circle(point, 0.42, f'fill="{board}"')  # hides the lines behind the number
        yield _circle(point, 0.42, f'fill="#06c" fill-opacity="{0.25 + 0.6 * share:.2f}"')
        x, y = _center(*point)
        yield _text(x, y + 4, text, 11, "#fff" if share > 0.4 else "#111")


def _frame(state: State, best: int) -> Iterator[str]:
    point = point_of(state, best)
    if point is not None:
        x, y = (part - _CELL / 2 + 1 for part in _center(*point))
        yield (
            f'<rect x="{x:g}" y="{y:g}" width="{_CELL - 2}" height="{_CELL - 2}" fill="none" '
            'stroke="#c00" stroke-width="2"/>'
        )


#: Notebooks ask a value's class for this method.
State._repr_html_ = state_html  # type: ignore[method-assign]
