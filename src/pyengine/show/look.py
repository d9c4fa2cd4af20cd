"""What the players of a game are called, and the colours of its board."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Look", "look_of"]

_LETTERS = ("X", "O")


@dataclass(frozen=True, kw_only=True)
class Look:
    """The players' names, and the colours of a board in a picture and in a terminal.

    Without colours stones are X and O.

    Attributes:
        names: of the first and the second player.
        stones: their colours in SVG; None = letters.
        board: the background in SVG.
        lines: between or through the points, in SVG.
        mark: the ring on the stone played last, in SVG.
        glyphs: the stones in a terminal.
        glyph_styles: their styles, as rich writes them.
        empty_style: of empty points in a terminal.
        board_style: of the background in a terminal.
        lettered: whether text shows the stones as X and O.
    """

    names: tuple[str, str] = _LETTERS
    stones: tuple[str, str] | None = None
    board: str = "#f4f1e8"
    lines: str = "#8a8471"
    mark: str = "#e33"
    glyphs: tuple[str, str] = _LETTERS
    glyph_styles: tuple[str, str] = ("bold red", "bold cyan")
    empty_style: str = "dim"
    board_style: str = ""
    lettered: bool = True

    def player(self, index: int, *, drawn: bool) -> str:
        """Return a player's name, with its letter if stones are letters: ``"Black (X)"``."""
        name, letter = self.names[index], _LETTERS[index]
        return f"{name} ({letter})" if self.lettered and name != letter and not drawn else name


_DISCS = ("●", "●")
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
#: Nothing is known of how a game without a board of the engine's shows its pieces.
_WITHOUT_BOARD = Look(names=("first player", "second player"), lettered=False)


def look_of(game: str | None) -> Look:
    """Return the look of the game of a name; None = one without a board."""
    return _WITHOUT_BOARD if game is None else _LOOKS.get(game, _LETTERS_ON_PAPER)
