"""External programs as players, each over its own protocol."""

from pyengine.match.external.gomocup import GomocupPlayer
from pyengine.match.external.gtp import GtpPlayer
from pyengine.match.external.ugi import UgiPlayer

__all__ = ["GomocupPlayer", "GtpPlayer", "UgiPlayer"]
