"""Confidence intervals for a score: :func:`score_interval`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_MIN_PROBABILITY = 1e-15
_FAR = 8.0  # standard deviations of probabilities next to 0 and 1
_NEAR = 1e-9  # tolerance of a root, in standard deviations
_STEPS = 100  # maximum number of steps of the root finder
_SADDLE_STEPS = 30  # of a bisection; the exact point affects only rounding
_STEP = 0.025  # of the integration variable; the ends err by less than 1e-8
_NODES = np.arange(0.0, 17.0, _STEP)  # up to where a single factor has decayed by 1e-14


def score_interval(
    points: Sequence[float], games: Sequence[int], confidence: float = 0.95
) -> tuple[float, float]:
    """Return the confidence interval for the score of independent groups of games, usually pairs.

    This is Gaffke's interval. Its ends are quantiles of a weighted mean of the group scores and one
    extra score, 0 for the lower end and 1 for the upper; the weights are uniform on the simplex. If
    all groups are entirely won or lost, it equals the exact Clopper-Pearson interval; otherwise it
    is narrower. Its coverage for small samples is a conjecture (Learned-Miller and Thomas, 2019),
    confirmed numerically for pairs of games; Wilson and normal intervals fail there.

    The number of games must not depend on their results.

    Args:
        points: of each group, 0 to its number of games.
        games: number of games of each group.
        confidence: in (0, 1).

    Returns:
        The ends, in [0, 1]; (0, 1) without games.

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
    """Return a quantile of the weighted mean; groups are counted by score and relative size."""
    counts = list(groups.values())
    target = _NORMAL.inv_cdf(probability)

    def excess(score: float) -> float:
        """Return the normal quantile of P(mean < score) minus the target; nearly linear."""
        below = _probability_below([size * (other - score) for other, size in groups], counts)
        return _NORMAL.inv_cdf(min(max(below, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY)) - target

    low, high = min(score for score, _ in groups), max(score for score, _ in groups)
    return _root(excess, low, high) if low < high else low


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function by the Illinois method; the ends are not evaluated."""
    at_low, at_high = -_FAR, _FAR
    side = 0  # of the last position
    for _ in range(_STEPS):
        middle = low + (high - low) * at_low / (at_low - at_high)
        value = function(middle)
        if abs(value) < _NEAR:
            return middle
        if value < 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
    return (low + high) / 2


def _probability_below(scales: Sequence[float], counts: Sequence[int]) -> float:
    """Return the probability that a weighted sum of exponential variables is below 0.

    ``counts`` has the number of variables of each weight in ``scales``; both signs occur.
    """
    if sum(s * n for s, n in zip(scales, counts, strict=True)) <= 0:
        return 1 - _tail(scales, counts)
    return _tail([-s for s in scales], counts)


def _tail(scales: Sequence[float], counts: Sequence[int]) -> float:
    """Return the probability that such a sum, with mean <= 0, is above 0.

    This is the integral of M(z) / z along the line Re z = c, divided by 2 pi i, where M is the
    moment generating function of the sum. The line passes through the saddle point.
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
    """Return the minimum of M(z) / z on the real axis between 0 and the first pole of M."""
    low, high = 0.0, 1 / max(scales)
    for _ in range(_SADDLE_STEPS):
        middle = (low + high) / 2
        slope = sum(n * s / (1 - s * middle) for s, n in zip(scales, counts, strict=True))
        low, high = (middle, high) if slope < 1 / middle else (low, middle)
    return (low + high) / 2
