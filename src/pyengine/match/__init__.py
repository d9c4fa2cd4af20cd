"""Matches between engines: game pairs, score intervals, Elo and SPRT."""

from pyengine.base.callable_room import make_callable
from pyengine.match.external import GomocupPlayer, GtpPlayer, UgiPlayer
from pyengine.match.openings import Openings
from pyengine.match.play import MatchInterrupted, match
from pyengine.match.players import RESIGN, RandomPlayer, ValuePlayer
from pyengine.match.result import GameRecord, MatchResult
from pyengine.match.statistics import Sprt, SprtState
from pyengine.match.tuning import TuneResult, tune

__all__ = [
    "RESIGN",
    "GameRecord",
    "GomocupPlayer",
    "GtpPlayer",
    "MatchInterrupted",
    "MatchResult",
    "Openings",
    "RandomPlayer",
    "Sprt",
    "SprtState",
    "TuneResult",
    "UgiPlayer",
    "ValuePlayer",
    "match",
    "tune",
]

make_callable(__name__)
