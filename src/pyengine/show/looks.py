"""What the players of a game are called, and how their stones look."""

from __future__ import annotations

from dataclasses import dataclass

from pyengine.games.game import Game
from pyengine.show.colours import BLACK_AND_WHITE, LETTERS, RED_AND_YELLOW

__all__ = ["Look", "look_of"]


@dataclass(frozen=True)
class Look:
    """A board in a terminal, and the words for it; without colours stones are X and O.

    Attributes:
        names: of the first and the second player.
        glyphs: their stones in colours.
        styles: of the stones.
        empty: style of empty points.
        board: background of all points.
    """

    names: tuple[str, str]
    glyphs: tuple[str, str]
    styles: tuple[str, str]
    empty: str
    board: str

    def player(self, index: int, *, drawn: bool) -> str:
        """Return the name of a player, with its letter where no colours are: ``"Black (X)"``.

        How a game without a board of the engine's shows its pieces is not known: no letter.
        """
        name, letter = self.names[index], LETTERS[index]
        lettered = self is not _USERS and name != letter
        return f"{name} ({letter})" if lettered and not drawn else name


_DISCS = ("●", "●")
_STYLES = ("bold black", "bold bright_white")
_WOOD = Look(BLACK_AND_WHITE, _DISCS, _STYLES, "rgb(120,90,40)", "on rgb(222,184,135)")
_LOOKS = {
    "go": _WOOD,
    "gomoku": _WOOD,
    "othello": Look(BLACK_AND_WHITE, _DISCS, _STYLES, "rgb(20,70,35)", "on rgb(46,139,87)"),
    "connect_four": Look(
        RED_AND_YELLOW,
        _DISCS,
        ("bold bright_red", "bold bright_yellow"),
        "rgb(90,120,190)",
        "on rgb(25,45,110)",
    ),
}
_PLAIN = Look(LETTERS, LETTERS, ("bold red", "bold cyan"), "dim", "")
_USERS = Look(("first player", "second player"), LETTERS, ("", ""), "", "")


def look_of(game: Game) -> Look:
    """Return the look of a game; letters for one that has no colours of its own."""
    return _LOOKS.get(game.name, _PLAIN) if game.has_board else _USERS
