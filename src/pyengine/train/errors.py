"""The exception for training that cannot continue."""

from __future__ import annotations

from pyengine.errors import EngineError


class TrainingError(EngineError):
    """Training cannot continue: a non-finite loss, or a part that fails repeatedly.

    Earlier checkpoints, candidates and data remain.
    """


TrainingError.__module__ = "pyengine.train"
