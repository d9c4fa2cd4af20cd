"""The exceptions that pyengine raises."""

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
