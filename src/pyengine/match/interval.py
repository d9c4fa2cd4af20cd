"""The interval of a score: what a few games leave open, and many prove."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_LEAST = 1e-15  # probability that is told from 0
_FAR = 8.0  # standard deviations: of probabilities next to 0 and 1
_NEAR = 1e-9  # distance of an end from where it would be exact
_STEPS = 100  # that a root takes at most
_SADDLE_STEPS = 30  # of a bisection; where the integral is taken decides nothing but its rounding
_STEP = 0.025  # of the variable that is integrated over: ends err by less than 1e-8
_NODES = np.arange(0.0, 17.0, _STEP)  # as far as one factor alone takes to fall by 1e-14


def score_interval(
    points: Sequence[float], games: Sequence[int], confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the score from independent groups of games, as a rule pairs.

    Gaffke's: the ends are quantiles of the mean of the groups and one more, which for the lower end
    scored nothing and for the upper one everything, under weights that are uniform over all that
    add up to 1. Where groups are won or lost as a whole that is Clopper's and Pearson's exact
    interval; otherwise it is narrower, as their variance is smaller. That it holds for few groups
    and for every distribution of their scores is conjectured (Learned-Miller and Thomas, 2019) and
    was computed for those of pairs; Wilson's or a normal one does not hold there.

    It is for a number of games that did not depend on their results.

    Args:
        points: of each group, 0 to its number of games.
        games: of each group.
        confidence: in (0, 1).

    Returns:
        Lower and upper end, in [0, 1]; that is (0, 1) without a game.

    """
    most = max(games, default=0)
    if most == 0:
        return (0.0, 1.0)
    groups = Counter((p / g, g / most) for p, g in zip(points, games, strict=True) if g)
    tail = (1 - confidence) / 2
    lower = _quantile(groups + Counter([(0.0, 1.0)]), tail)
    upper = _quantile(groups + Counter([(1.0, 1.0)]), 1 - tail)
    return (lower, upper)


def _quantile(groups: Counter[tuple[float, float]], probability: float) -> float:
    """Where the weighted mean lies below with a probability.

    Args:
        groups: how many groups have this score and this size.
        probability: in (0, 1).

    """
    counts = list(groups.values())
    wanted = _NORMAL.inv_cdf(probability)

    def excess(score: float) -> float:
        """How far the probability below a score is from the wanted one; nearly a line."""
        below = _probability_below([size * (one - score) for one, size in groups], counts)
        return _NORMAL.inv_cdf(min(max(below, _LEAST), 1 - _LEAST)) - wanted

    low, high = min(score for score, _ in groups), max(score for score, _ in groups)
    return _root(excess, low, high) if low < high else low


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0, by false positions with Illinois' rule.

    It is below 0 at the one end and above it at the other, where it is not evaluated.
    """
    at_low, at_high = -_FAR, _FAR
    side = 0  # of the last position
    for _ in range(_STEPS):
        middle = low + (high - low) * at_low / (at_low - at_high)
        found = function(middle)
        if abs(found) < _NEAR:
            return middle
        if found < 0:
            low, at_low = middle, found
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
        else:
            high, at_high = middle, found
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
    return (low + high) / 2


def _probability_below(scales: Sequence[float], counts: Sequence[int]) -> float:
    """The probability that a sum of exponential variables is below 0.

    Args:
        scales: [K], means of the variables, negative for those that are subtracted; of both kinds.
        counts: [K], how many variables have each.

    """
    if sum(s * n for s, n in zip(scales, counts, strict=True)) <= 0:
        return 1 - _tail(scales, counts)
    return _tail([-s for s in scales], counts)


def _tail(scales: Sequence[float], counts: Sequence[int]) -> float:
    """The probability that such a sum, whose mean is 0 at most, is above 0.

    That is the integral of M(z) / z over the line Re z = c, over 2 pi i, with the generating
    function M of the sum. The line goes through the saddle, where nothing oscillates.
    """
    saddle = _saddle(scales, counts)
    curvature = 1 / saddle**2 + math.fsum(
        n * (s / (1 - s * saddle)) ** 2 for s, n in zip(scales, counts, strict=True)
    )
    width = 1 / math.sqrt(curvature)
    z = saddle + 1j * width * np.sinh(_NODES)
    logs = sum(n * np.log(1 - s * z) for s, n in zip(scales, counts, strict=True))
    values = (np.exp(-logs) / z).real * np.cosh(_NODES)
    return float(values.sum() - values[0] / 2) * _STEP * width / math.pi


def _saddle(scales: Sequence[float], counts: Sequence[int]) -> float:
    """Where M(z) / z is least, on the real axis between 0 and the first pole of M."""
    low, high = 0.0, 1 / max(scales)
    for _ in range(_SADDLE_STEPS):
        middle = (low + high) / 2
        slope = sum(n * s / (1 - s * middle) for s, n in zip(scales, counts, strict=True))
        low, high = (middle, high) if slope < 1 / middle else (low, middle)
    return (low + high) / 2
