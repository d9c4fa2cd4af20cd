"""What SGF files and the engine's games have in common: sizes, points, results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyengine.errors import ConfigError
from pyengine.extras import need
from pyengine.games import Game

__all__ = ["SgfRules", "check_in_sgf", "sgfmill"]

#: The number that SGF has for a game (GM).
_NUMBERS = {"go": 1, "gomoku": 4}

_LARGEST = 26  # sgfmill's, and that of points of two letters


def sgfmill(module: str) -> Any:
    """Return a module of sgfmill. Raises EngineError that names the extra ``sgf``."""
    return need(f"sgfmill.{module}", "sgf")


def check_in_sgf(game: str) -> None:
    """Raise ConfigError for the text of a game that SGF does not have."""
    if game.partition("(")[0] not in _NUMBERS:
        raise ConfigError(f"SGF is for {' and '.join(_NUMBERS)}, found {game}")


@dataclass(frozen=True)
class SgfRules:
    """How a game stands in SGF.

    Attributes:
        number: SGF's of the game (GM): 1 Go, 4 Gomoku and Renju.
        size: rows and columns of the board.
        pass_action: None in Gomoku.
    """

    number: int
    size: int
    pass_action: int | None

    @classmethod
    def of(cls, game: Game) -> SgfRules:
        """Return a game's. Raises ConfigError for one that SGF does not have, or its board."""
        check_in_sgf(str(game))
        rows, columns = game.board_shape
        if rows != columns or rows > _LARGEST:
            raise ConfigError(f"SGF is for square boards up to {_LARGEST}, found {rows}x{columns}")
        has_pass = game.num_distinct_actions() > rows * columns
        return cls(_NUMBERS[game.name], rows, rows * columns if has_pass else None)

    def move(self, action: int) -> tuple[int, int] | None:
        """Return sgfmill's move of an action: row (0 at the bottom) and column; None = pass."""
        if action == self.pass_action:
            return None
        row, column = divmod(action, self.size)
        return self.size - 1 - row, column

    def action(self, move: tuple[int, int] | None) -> int | None:
        """Return the action of sgfmill's move; None where the game has no pass."""
        if move is None:
            return self.pass_action
        return (self.size - 1 - move[0]) * self.size + move[1]
