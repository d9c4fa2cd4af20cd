"""What the players of a game are called, and the colours of its board."""

from __future__ import annotations

from dataclasses import dataclass

from pyengine.games.game import Game

__all__ = ["BLACK_AND_WHITE", "LETTERS", "RED_AND_YELLOW", "Colours", "colours_of"]

#: Names of the first and the second player.
BLACK_AND_WHITE, RED_AND_YELLOW, LETTERS = ("Black", "White"), ("Red", "Yellow"), ("X", "O")


@dataclass(frozen=True)
class Colours:
    """The players' names and, as SVG writes colours, the board.

    Attributes:
        names: of the first and the second player.
        stones: of both; None where a player's stones are its letter.
        board: the background.
        lines: between or through the points.
        mark: the ring on the stone played last.
    """

    names: tuple[str, str]
    stones: tuple[str, str] | None
    board: str
    lines: str
    mark: str = "#e33"


_STONES = ("#111", "#fff")
_WOOD = Colours(BLACK_AND_WHITE, _STONES, "#e8c98a", "#8d6f3a")
_PAPER = Colours(LETTERS, None, "#f4f1e8", "#8a8471")
_COLOURS = {
    "go": _WOOD,
    "gomoku": _WOOD,
    "othello": Colours(BLACK_AND_WHITE, _STONES, "#86c193", "#3d7a4c"),
    "connect_four": Colours(RED_AND_YELLOW, ("#d9342b", "#fc0"), "#c5d6f0", "#6483b5", mark="#111"),
}


def colours_of(game: Game) -> Colours:
    """Return the colours of a game with a board; letters on paper where it has none of its own."""
    return _COLOURS.get(game.name, _PAPER)
