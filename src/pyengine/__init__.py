"""Fast tree search with neural networks: a C++ engine, used from Python."""

# NumPy imports it on first use, and its import swallows a Ctrl-C that arrives meanwhile.
from numpy import random as _random  # noqa: F401

from pyengine._core import __version__
from pyengine.checks import GameReport, check_game
from pyengine.config import SearchConfig
from pyengine.data import Dataset, convert
from pyengine.doctor import DoctorReport, doctor
from pyengine.engine import Engine, search
from pyengine.errors import (
    ConfigError,
    DataError,
    EngineError,
    EvaluationError,
    IllegalActionError,
    ModelError,
)
from pyengine.evaluators import (
    CallbackEvaluator,
    Evaluator,
    MixedEvaluator,
    OnnxEvaluator,
    PolicyEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
    bundled_models,
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
from pyengine.match import (
    GameRecord,
    MatchInterrupted,
    MatchResult,
    Openings,
    RandomPlayer,
    Sprt,
    ValuePlayer,
    match,
)
from pyengine.paths import AStarResult, Graph, Grid, PathProblem, SlidingPuzzle, astar
from pyengine.result import SearchResult
from pyengine.rollout_policy import RolloutPolicy
from pyengine.self_play import (
    SelfPlayConfig,
    SelfPlayInterrupted,
    SelfPlayReport,
    selfplay,
)
from pyengine.solve import Solver, SolveResult, minimax, solve
from pyengine.spec import ModelSpec
from pyengine.tree import SearchTree
from pyengine.tune import TuneResult, tune

__all__ = [
    "AStarResult",
    "CallbackEvaluator",
    "ConfigError",
    "DataError",
    "Dataset",
    "DoctorReport",
    "Engine",
    "EngineError",
    "EvaluationError",
    "Evaluator",
    "Game",
    "GameRecord",
    "GameReport",
    "Graph",
    "Grid",
    "IllegalActionError",
    "MatchInterrupted",
    "MatchResult",
    "MixedEvaluator",
    "ModelError",
    "ModelSpec",
    "OnnxEvaluator",
    "Openings",
    "PathProblem",
    "PolicyEvaluator",
    "PythonGame",
    "PythonState",
    "RandomPlayer",
    "RolloutEvaluator",
    "RolloutPolicy",
    "SearchConfig",
    "SearchResult",
    "SearchTree",
    "SelfPlayConfig",
    "SelfPlayInterrupted",
    "SelfPlayReport",
    "SlidingPuzzle",
    "SolveResult",
    "Solver",
    "Sprt",
    "State",
    "StateEvaluator",
    "TuneResult",
    "UniformEvaluator",
    "ValuePlayer",
    "__version__",
    "as_game",
    "astar",
    "bundled_models",
    "check_game",
    "convert",
    "doctor",
    "load_game",
    "match",
    "minimax",
    "registered_games",
    "search",
    "selfplay",
    "solve",
    "tune",
]
