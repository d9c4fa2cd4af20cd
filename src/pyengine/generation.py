"""The former name of :mod:`pyengine.self_play`, kept for one release."""

import warnings

from pyengine.self_play import (
    SelfPlayConfig,
    SelfPlayer,
    SelfPlayInterrupted,
    SelfPlayReport,
    selfplay,
)

__all__ = ["SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport", "SelfPlayer", "selfplay"]

warnings.warn(
    "pyengine.generation is now pyengine.self_play; the old name ends with the next release",
    DeprecationWarning,
    stacklevel=2,
)
