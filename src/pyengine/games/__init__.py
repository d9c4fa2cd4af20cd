"""Games: the engine's by name, anybody's game, and what a board shows."""

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
