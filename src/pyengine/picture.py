"""A board as a picture (SVG), for notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["board_svg"]

_CELL = 28  # pixels of a point's square


def board_svg(state: Any, policy: npt.NDArray[np.float32], best: int) -> str:
    """Return the board with stones and, on each point, the share of visits as a shade.

    Args:
        state: a :class:`~pyengine.State`; the empty text is returned for anything without a board.
        policy: float32 [A], the share of each action; actions are points or columns.
        best: the action to be framed.

    """
    game = getattr(state, "game", None)
    if game is None or not getattr(game, "has_board", False):
        return ""
    rows, columns = game.board_shape
    stones = state.board_rows()
    size = f'width="{columns * _CELL}" height="{rows * _CELL}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>']
    by_column = game.num_distinct_actions() == columns and rows > 1
    for row in range(rows):
        for column in range(columns):
            action = column if by_column else row * columns + column
            stone = stones[row][column]
            share = float(policy[action]) if stone == "." else 0.0
            parts.append(_point(row, column, stone, share, framed=action == best))
    return "".join([*parts, "</svg>"])


def _point(row: int, column: int, stone: str, share: float, *, framed: bool) -> str:
    x, y = column * _CELL, row * _CELL
    frame = "#c00" if framed and stone == "." else "#b8965a"
    parts = [
        f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#e8c98a" stroke="{frame}"/>'
    ]
    center = f'cx="{x + _CELL / 2}" cy="{y + _CELL / 2}" r="{_CELL * 0.42}"'
    if stone in "XO":
        fill = "#111" if stone == "X" else "#fff"
        parts.append(f'<circle {center} fill="{fill}" stroke="#111"/>')
    elif share >= 0.005:
        parts.append(f'<circle {center} fill="#06c" fill-opacity="{0.15 + 0.7 * share:.2f}"/>')
        parts.append(
            f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" font-size="10" '
            f'text-anchor="middle">{share:.0%}</text>'
        )
    return "".join(parts)
