"""Boards in a terminal; requires the extra ``cli``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pyengine.show.board import Board, look_of

if TYPE_CHECKING:
    from rich.console import Console


def can_draw(console: Console) -> bool:
    """Return whether the console can show stones: discs that differ only in colour."""
    in_colours = console.color_system is not None and not console.no_color  # NO_COLOR, TERM=dumb
    utf8 = console.encoding.lower().replace("-", "") == "utf8"
    return console.is_terminal and in_colours and utf8


def board_text(board: Board) -> Text:
    """Return the board in colours with the last stone inverted; ends with a newline."""
    margin = max(map(len, board.row_names), default=0)
    text = Text()
    for row, name in enumerate(board.row_names):
        text.append(f"{name:>{margin}} ", "dim").append_text(_points(board, row)).append("\n")
    return text.append(" " * (margin + 2) + " ".join(board.column_names) + "\n", "dim")


def _points(board: Board, row: int) -> Text:
    look = look_of(board.game)
    text = Text(" ", look.board_style)
    for column, stone in enumerate(board.rows[row]):
        player = "XO".find(stone)
        glyph = look.glyphs[player] if player >= 0 else "·"
        style = look.glyph_styles[player] if player >= 0 else look.empty_style
        text.append(glyph, style + (" reverse" if (row, column) == board.last else "")).append(" ")
    return text
