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
    MixedEvaluator,
    ModelSpec,
    OnnxEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
    bundled_models,
)
from pyengine.exact import (
    AStarResult,
    Graph,
    Grid,
    SlidingPuzzle,
    SolveResult,
    astar,
    solve,
)
from pyengine.games import (
    Game,
    State,
    check_game,
    get_cmake_dir,
    get_include,
    load_game,
    perft,
    registered_games,
)
from pyengine.search import Clock, Engine, SearchConfig, SearchResult

if TYPE_CHECKING:
    from pyengine.data import Dataset, convert
    from pyengine.doctor import doctor
    from pyengine.match import MatchResult, match
    from pyengine.search import search
    from pyengine.selfplay import SelfPlayConfig, SelfPlayReport, selfplay

__all__ = [
    "AStarResult",
    "CallbackEvaluator",
    "Clock",
    "ConfigError",
    "DataError",
    "Dataset",
    "Engine",
    "EngineError",
    "EvaluationError",
    "Game",
    "Graph",
    "Grid",
    "IllegalActionError",
    "MatchResult",
    "MixedEvaluator",
    "ModelError",
    "ModelSpec",
    "OnnxEvaluator",
    "RolloutEvaluator",
    "SearchConfig",
    "SearchResult",
    "SelfPlayConfig",
    "SelfPlayReport",
    "SlidingPuzzle",
    "SolveResult",
    "State",
    "StateEvaluator",
    "UniformEvaluator",
    "__version__",
    "astar",
    "bundled_models",
    "check_game",
    "convert",
    "doctor",
    "get_cmake_dir",
    "get_include",
    "load_game",
    "match",
    "perft",
    "registered_games",
    "search",
    "selfplay",
    "solve",
]

#: Packages imported on first use, with the names that they export here.
_ROOMS = {
    "conversion": (),
    "data": ("Dataset", "convert"),
    "distributed": (),
    "doctor": (),
    "match": ("MatchResult",),
    "plot": (),
    "review": (),
    "selfplay": ("SelfPlayConfig", "SelfPlayReport"),
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
    return sorted({*__all__, *_ROOMS, "errors", "eval", "exact", "games"})
