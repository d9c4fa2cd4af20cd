"""Statistical power of a match: how often it meets a target at a given true loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

_NORMAL = NormalDist()
#: Half-width of a match's 95 % interval, in standard errors. The interval is valid for every
#: distribution of results and is about 5 % (3 to 11 %) wider than the normal one at 300 to 500
#: pairs.
_HALF = 1.05 * _NORMAL.inv_cdf(0.975)
#: True losses that the suite reports, in Elo.
LOSSES = (0, 10, 20, 35)


@dataclass(frozen=True)
class StrengthBar:
    """Target of a score, tested with its 95 % interval.

    Attributes:
        least: the whole interval must be at or above this score, which rules out a greater loss.
        reach: the interval must reach this score, otherwise a loss is proven.
    """

    least: float
    reach: float

    def verdict(self, low: float, high: float) -> str:
        """Return "met", "missed" (a loss is proven), or "not decided"."""
        if high < self.reach:
            return "missed"
        return "met" if low >= self.least else "not decided"

    def chances(self, score: float, error: float) -> tuple[float, float]:
        """Return the probabilities of "met" and "missed".

        Args:
            score: the true score.
            error: standard error of the match's score, assumed to be normally distributed.
        """
        missed_below = self.reach - _HALF * error
        met_from = max(self.least + _HALF * error, missed_below)
        return (
            1 - _NORMAL.cdf((met_from - score) / error),
            _NORMAL.cdf((missed_below - score) / error),
        )

    def told(self, error: float) -> str:
        """Return the probabilities at the true losses as a line of text."""
        parts = []
        for loss in LOSSES:
            met, missed = self.chances(score_at(-loss), error)
            parts.append(f"{loss} Elo: met {met:.1%}, missed {missed:.1%}")
        return "; ".join(parts)


def score_at(elo: float) -> float:
    """Return the expected score of a player with this Elo advantage."""
    return 1 / (1 + 10 ** (-elo / 400))


def error_of(games: int, deviation: float) -> float:
    """Return the standard error of a score from pairs of games.

    Args:
        games: number of games, two per pair.
        deviation: standard deviation of a pair's mean score: 0.35 if the games of a pair are
            independent and none is drawn, less with draws.
    """
    return deviation / math.sqrt(games / 2)


def error_of_interval(low: float, high: float) -> float:
    """Return the standard error that corresponds to a 95 % interval."""
    return (high - low) / 2 / _HALF
