"""The error of a training that cannot go on."""

from __future__ import annotations

from pyengine.errors import EngineError


class TrainingError(EngineError):
    """A training that cannot go on: a loss that is not finite, a part that keeps failing.

    What was written before it stays: checkpoints, candidates and data.
    """


TrainingError.__module__ = "pyengine.train"
