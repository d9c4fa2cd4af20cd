"""Names of :mod:`pyengine.base.checks`, for rooms that still import them from here."""

from pyengine.base.checks import *  # noqa: F403
