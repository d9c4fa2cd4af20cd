"""Fast tree search with neural networks: a C++ engine, used from Python."""

import importlib
from typing import TYPE_CHECKING, Any

# NumPy would import it on first use; that import swallows a Ctrl-C.
from numpy import random as _random  # noqa: F401

from pyengine._core import __version__
from pyengine.errors import (
    ConfigError,
    DataError,
    EngineError,
    EvaluationError,
    IllegalActionError,
    ModelError,
)
from pyengine.eval import (
    CallbackEvaluator,
    Evaluator,
    MixedEvaluator,
    ModelSpec,
    OnnxEvaluator,
    PolicyEvaluator,
    RolloutEvaluator,
    RolloutPolicy,
    StateEvaluator,
    UniformEvaluator,
    bundled_models,
)
from pyengine.exact import (
    AStarResult,
    Graph,
    Grid,
    PathProblem,
    SlidingPuzzle,
    Solver,
    SolveResult,
    astar,
    minimax,
    solve,
)
from pyengine.games import (
    Game,
    GameReport,
    PythonGame,
    PythonState,
    State,
    as_game,
    check_game,
    load_game,
    registered_games,
)
from pyengine.search import Engine, SearchConfig, SearchResult, SearchTree

if TYPE_CHECKING:
    from pyengine.data import Dataset, convert
    from pyengine.doctor import DoctorReport, doctor
    from pyengine.match import (
        GameRecord,
        MatchInterrupted,
        MatchResult,
        Openings,
        RandomPlayer,
        Sprt,
        TuneResult,
        ValuePlayer,
        match,
        tune,
    )
    from pyengine.search import search
    from pyengine.selfplay import SelfPlayConfig, SelfPlayInterrupted, SelfPlayReport, selfplay

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

#: Packages imported on first use, with the names that they export here.
_ROOMS = {
    "conversion": (),
    "data": ("Dataset", "convert"),
    "distributed": (),
    "doctor": ("DoctorReport",),
    "match": (
        "GameRecord",
        "MatchInterrupted",
        "MatchResult",
        "Openings",
        "RandomPlayer",
        "Sprt",
        "TuneResult",
        "ValuePlayer",
        "tune",
    ),
    "selfplay": ("SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport"),
    "train": (),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

if not TYPE_CHECKING:  # with it a type checker would accept any name

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"pyengine.{name}")
        if name not in _ROOM_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"pyengine.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_ROOM_OF})
