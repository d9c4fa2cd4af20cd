"""Self-play games as training data."""

from pyengine._core import SelfPlayConfig
from pyengine.base.callable_room import make_callable
from pyengine.selfplay.player import SelfPlayer
from pyengine.selfplay.report import SelfPlayReport
from pyengine.selfplay.run import SelfPlayInterrupted, selfplay

__all__ = ["SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport", "SelfPlayer", "selfplay"]

make_callable(__name__)
