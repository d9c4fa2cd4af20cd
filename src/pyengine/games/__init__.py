"""Built-in games, users' games, and the display of positions."""

from pyengine.games.check import GameReport, check_game
from pyengine.games.game import (
    Game,
    PythonGame,
    PythonState,
    State,
    as_game,
    load_game,
    registered_games,
)

__all__ = [
    "Game",
    "GameReport",
    "PythonGame",
    "PythonState",
    "State",
    "as_game",
    "check_game",
    "load_game",
    "registered_games",
]
