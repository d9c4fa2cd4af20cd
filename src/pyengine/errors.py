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
    """Base of all others. Itself: a call that cannot be served now, or a package that is missing.

    For example a second search of an engine, a closed engine, an extra that is not installed.
    """


class ConfigError(EngineError, ValueError):
    """A parameter, a setting, a state or a file of settings that does not fit.

    The message names the field, what was expected and what was found.
    """


class IllegalActionError(EngineError, ValueError):
    """An action that is not legal in a state, which is left as it was; a text that names none."""


class ModelError(EngineError):
    """A network that cannot be loaded or does not fit the game, a provider that cannot be had.

    The message says what was expected and what was found.
    """


class EvaluationError(EngineError):
    """A model or callable that failed while searching; ``__cause__`` is what it raised.

    The search stops, the engine stays usable.
    """


class DataError(EngineError):
    """A file of data, a record or a checkpoint that is damaged or cannot be read or written.

    The message says which.
    """


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
