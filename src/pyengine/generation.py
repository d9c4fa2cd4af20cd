"""The former name of :mod:`pyengine.self_play`, kept for one release."""

from pyengine.renamed import warn_renamed
from pyengine.self_play import (
    SelfPlayConfig,
    SelfPlayer,
    SelfPlayInterrupted,
    SelfPlayReport,
    selfplay,
)

__all__ = ["SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport", "SelfPlayer", "selfplay"]

warn_renamed("pyengine.generation", "pyengine.self_play")
