"""Built-in games, users' games, and the display of positions."""

from pyengine._core import PlayoutRandom
from pyengine.games.check import check_game
from pyengine.games.game import (
    Game,
    PythonGame,
    PythonState,
    State,
    as_game,
    load_game,
    registered_games,
)
from pyengine.games.game_report import GameReport
from pyengine.games.headers import get_cmake_dir, get_include
from pyengine.games.perft import perft

__all__ = [
    "Game",
    "GameReport",
    "PlayoutRandom",
    "PythonGame",
    "PythonState",
    "State",
    "as_game",
    "check_game",
    "get_cmake_dir",
    "get_include",
    "load_game",
    "perft",
    "registered_games",
]
