"""The errors that the engine raises on purpose; each says what was expected and what was found."""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "DataError",
    "EngineError",
    "EvaluationError",
    "IllegalActionError",
    "ModelError",
]


class EngineError(Exception):
    """Base of all the others; itself: a call that the engine cannot serve now."""


class ConfigError(EngineError, ValueError):
    """A parameter, a state or a call that does not fit; the message names the field."""


class IllegalActionError(EngineError, ValueError):
    """The action is not legal in this state, which is left as it was."""


class ModelError(EngineError):
    """A network that cannot be loaded or does not fit the game."""


class EvaluationError(EngineError):
    """A model or callable that failed while searching; ``__cause__`` is what it raised.

    The search stops, the engine stays usable.
    """


class DataError(EngineError):
    """A shard of self-play data that is damaged; the message says which."""


# They are public as pyengine.ConfigError and so on: tracebacks and pickles say so.
for _error in (
    EngineError,
    ConfigError,
    IllegalActionError,
    ModelError,
    EvaluationError,
    DataError,
):
    _error.__module__ = "pyengine"
