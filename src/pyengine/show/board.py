"""The displayed form of a position, and the look of each game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

#: Row and column, from the top left.
Point: TypeAlias = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board to display."""

    game: str  #: the game's name, which selects the colours
    rows: Sequence[str]  #: top row first; ``X`` and ``O`` are the players' stones, ``.`` is empty
    row_names: Sequence[str]  #: "" for an unnamed row
    column_names: Sequence[str]
    last: Point | None = None  #: the last stone played


_LETTERS = ("X", "O")


@dataclass(frozen=True, kw_only=True)
class Look:
    """The players' names and the colours of a board in SVG and in a terminal (rich styles)."""

    names: tuple[str, str] = _LETTERS
    stones: tuple[str, str] | None = None  #: SVG; None = letters
    board: str = "#f4f1e8"  #: SVG
    lines: str = "#8a8471"  #: SVG
    mark: str = "#e33"  #: SVG: the ring on the last stone played
    glyphs: tuple[str, str] = _LETTERS  #: terminal: the stones
    glyph_styles: tuple[str, str] = ("bold red", "bold cyan")
    empty_style: str = "dim"  #: terminal: empty points
    board_style: str = ""  #: terminal: the background
    lettered: bool = True  #: whether text shows the stones as X and O

    def player(self, index: int, *, drawn: bool) -> str:
        """Return a player's name, followed by its stone: a glyph if ``drawn``, or a letter."""
        name, stone = self.names[index], (self.glyphs if drawn else _LETTERS)[index]
        return f"{name} ({stone})" if self.lettered and name != stone else name


_DISCS = ("●", "○")  # distinguishable without colour
_BLACK_AND_WHITE = Look(
    names=("Black", "White"),
    stones=("#111", "#fff"),
    board="#e8c98a",
    lines="#8d6f3a",
    glyphs=_DISCS,
    glyph_styles=("bold black", "bold bright_white"),
    empty_style="rgb(120,90,40)",
    board_style="on rgb(222,184,135)",
)
_LOOKS = {
    "go": _BLACK_AND_WHITE,
    "gomoku": _BLACK_AND_WHITE,
    "othello": replace(
        _BLACK_AND_WHITE,
        board="#86c193",
        lines="#3d7a4c",
        empty_style="rgb(20,70,35)",
        board_style="on rgb(46,139,87)",
    ),
    "connect_four": Look(
        names=("Red", "Yellow"),
        stones=("#d9342b", "#fc0"),
        board="#c5d6f0",
        lines="#6483b5",
        mark="#111",
        glyphs=_DISCS,
        glyph_styles=("bold bright_red", "bold bright_yellow"),
        empty_style="rgb(90,120,190)",
        board_style="on rgb(25,45,110)",
    ),
}
_LETTERS_ON_PAPER = Look()
#: For games without a board, whose pieces are unknown.
_WITHOUT_BOARD = Look(names=("first player", "second player"), lettered=False)


def look_of(game: str | None) -> Look:
    """Return the look of a game by name; None = a game without a board."""
    return _WITHOUT_BOARD if game is None else _LOOKS.get(game, _LETTERS_ON_PAPER)
