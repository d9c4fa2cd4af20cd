"""Self-play: games that a search plays against itself, as training data."""

from pyengine.generation.config import SelfPlayConfig
from pyengine.generation.player import SelfPlayer
from pyengine.generation.report import SelfPlayReport
from pyengine.generation.run import SelfPlayInterrupted, selfplay

__all__ = ["SelfPlayConfig", "SelfPlayInterrupted", "SelfPlayReport", "SelfPlayer", "selfplay"]
