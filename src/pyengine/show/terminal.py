"""Boards in a terminal; requires the extra ``cli``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from pyengine.show.board import Board, Point, look_of

if TYPE_CHECKING:
    from rich.console import Console


def can_draw(console: Console) -> bool:
    """Return whether the console can show discs: a terminal in UTF-8, with or without colours."""
    utf8 = console.encoding.lower().replace("-", "") == "utf8"
    return console.is_terminal and not console.is_dumb_terminal and utf8


def board_text(board: Board, *, drawn: bool = True, marked: Collection[Point] = ()) -> Text:
    """Return the board with the last stone in parentheses; ends with a newline.

    ``drawn``: discs in colours, else letters. ``marked``: empty points to show as ``*``.
    """
    margin = max(map(len, board.row_names), default=0)
    text = Text()
    for row, name in enumerate(board.row_names):
        text.append(f"{name:>{margin}} ", "dim")
        points = _points(board, row, drawn, marked)
        if not drawn:
            points.rstrip()
        text.append_text(points).append("\n")
    return text.append(" " * (margin + 2) + " ".join(board.column_names) + "\n", "dim")


def _points(board: Board, row: int, drawn: bool, marked: Collection[Point]) -> Text:
    look = look_of(board.game)
    text = Text("", look.board_style)
    for column, stone in enumerate(board.rows[row]):
        point = (row, column)
        player = "XO".find(stone)
        if player >= 0:
            glyph = look.glyphs[player] if drawn else stone
            style = look.glyph_styles[player]
        else:
            glyph = "*" if point in marked else "·" if drawn else "."
            style = "bold" if point in marked else look.empty_style
        text.append(_between(board.last, row, column)).append(glyph, style)
    return text.append(_between(board.last, row, len(board.rows[row])))


def _between(last: Point | None, row: int, column: int) -> str:
    """Return the character before a column: parentheses enclose the last stone."""
    return {(row, column): "(", (row, column - 1): ")"}.get(last, " ") if last else " "


#: Signs of a point's owner: both players' when nearly certain, and when likely.
_OWNERS = {True: ("■□", "▪▫"), False: ("XO", "xo")}
_CERTAIN, _LIKELY = 0.7, 0.3


def owners_text(board: Board, ownership: Sequence[Sequence[float]], *, drawn: bool) -> Text:
    """Return the predicted owner of each point as text; the last line is a legend.

    ``ownership``: rows of values in [-1, 1]; 1 = the first player.
    """
    certain, likely = _OWNERS[drawn]
    rows = ["".join(_owner(value, certain, likely) for value in row) for row in ownership]
    margin = max(map(len, board.row_names), default=0)
    lines = [
        f"{name:>{margin}}  {' '.join(row)}"
        for name, row in zip(board.row_names, rows, strict=True)
    ]
    first, second = look_of(board.game).names
    legend = f"{certain[0]} {first}, {certain[1]} {second}; {likely[0]} {likely[1]} likely; . open"
    return Text("\n".join([*lines, " " * (margin + 2) + " ".join(board.column_names), legend]))


def _owner(value: float, certain: str, likely: str) -> str:
    signs = certain if abs(value) >= _CERTAIN else likely
    return "." if abs(value) < _LIKELY else signs[int(value < 0)]
