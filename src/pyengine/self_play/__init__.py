"""Self-play: games that a search plays against itself, as training data."""

from pyengine.self_play.config import SelfPlayConfig
from pyengine.self_play.player import SelfPlayer
from pyengine.self_play.report import SelfPlayReport
from pyengine.self_play.run import SelfPlayInterrupted, selfplay

__all__ = ["SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport", "SelfPlayer", "selfplay"]
