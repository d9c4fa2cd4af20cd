"""Matches between engines: pairs of games, honest intervals, Elo and SPRT."""

from pyengine.match.openings import Openings
from pyengine.match.play import MatchInterrupted, match
from pyengine.match.result import GameRecord, MatchResult
from pyengine.match.simple import RandomPlayer, ValuePlayer
from pyengine.match.statistics import Sprt, SprtState

__all__ = [
    "GameRecord",
    "MatchInterrupted",
    "MatchResult",
    "Openings",
    "RandomPlayer",
    "Sprt",
    "SprtState",
    "ValuePlayer",
    "match",
]
