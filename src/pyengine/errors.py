"""The errors that the engine raises on purpose; each says what was expected and what was found."""

from pyengine._core import (
    ConfigError,
    DataError,
    EngineError,
    EvaluationError,
    IllegalActionError,
    ModelError,
)

__all__ = [
    "ConfigError",
    "DataError",
    "EngineError",
    "EvaluationError",
    "IllegalActionError",
    "ModelError",
]
