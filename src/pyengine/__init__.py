"""Fast tree search with neural networks: a C++ engine, used from Python."""

from pyengine._core import __version__
from pyengine.checks import GameReport, check_game
from pyengine.errors import (
    ConfigError,
    DataError,
    EngineError,
    EvaluationError,
    IllegalActionError,
    ModelError,
)
from pyengine.games import (
    Game,
    PythonGame,
    PythonState,
    State,
    as_game,
    load_game,
    registered_games,
)

__all__ = [
    "ConfigError",
    "DataError",
    "EngineError",
    "EvaluationError",
    "Game",
    "GameReport",
    "IllegalActionError",
    "ModelError",
    "PythonGame",
    "PythonState",
    "State",
    "__version__",
    "as_game",
    "check_game",
    "load_game",
    "registered_games",
]
