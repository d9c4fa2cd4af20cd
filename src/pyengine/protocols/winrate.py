"""Figures that clients expect with a win rate: a lead in points and a lower bound."""

from __future__ import annotations

import math

from pyengine.games.game import Game

# Points per unit of log-odds, as a share of the board's side. Fitted to the value and the score
# of the network go9 in 720 positions of 9x9: correlation 0.93.
_POINTS = 0.46
_CERTAIN = 0.999  # a win rate beyond this counts as this
_STDEVS = 1.96  # 95 % on both sides


def points_per_log_odds(game: Game) -> float:
    """Return the scale of :func:`lead_from_win_rate`: 4.1 points on 9x9, 8.7 on 19x19."""
    rows, columns = game.board_shape
    return _POINTS * math.sqrt(rows * columns)


def lead_from_win_rate(win_rate: float, game: Game) -> float:
    """Return a lead in points that corresponds to a win rate, for the same player.

    For networks that predict no score: 0.5 is 0 points; on 9x9, 0.75 is 4.5 and 0.999 is 28.6.
    """
    likely = min(max(win_rate, 1 - _CERTAIN), _CERTAIN)
    return points_per_log_odds(game) * math.log(likely / (1 - likely))


def stdev_of_lead(game: Game) -> float:
    """Return the standard deviation in points that :func:`lead_from_win_rate` implies."""
    return points_per_log_odds(game) * math.pi / math.sqrt(3)  # of the logistic distribution


def lower_confidence_bound(win_rate: float, visits: int) -> float:
    """Return the lower end of the 95 % Wilson interval of a win rate; 0 without visits."""
    if visits == 0:
        return 0.0
    z2 = _STDEVS**2 / visits
    spread = math.sqrt(win_rate * (1 - win_rate) * z2 + z2 * z2 / 4)
    return max(0.0, (win_rate + z2 / 2 - spread) / (1 + z2))
