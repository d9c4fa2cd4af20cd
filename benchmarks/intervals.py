"""Distribution-free intervals for figures from a few measurements."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

#: Minimum confidence for a verdict.
CONFIDENCE = 0.95
_STEPS = 60  # bisection steps in [0, 1]


class Interval(NamedTuple):
    """An interval that contains a figure.

    Attributes:
        low, high: the ends, both inclusive.
        confidence: 0 to 1. 1 = the figure is counted, not sampled.
    """

    low: float
    high: float
    confidence: float

    def columns(self) -> dict[str, float]:
        """Return the cells of a row, with the confidence in percent."""
        return {"from": self.low, "to": self.high, "confidence %": 100 * self.confidence}


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return float(statistics.median(values))


def of_median(values: Sequence[float]) -> Interval:
    """Return a confidence interval for the median of the distribution of independent samples.

    Its ends are the k-th lowest and the k-th highest value. The true median lies below the first
    with the probability that fewer than k of n fair coins show heads. k is the largest value that
    gives 95 %, or 1 if none does: 93.75 % for 5 values, 96.875 % for 6, 0 % for 1.
    """
    ordered, n = sorted(values), len(values)
    found, outside = Interval(ordered[0], ordered[-1], 1 - 2 / 2**n), 1
    for k in range(2, n // 2 + 1):
        outside += math.comb(n, k - 1)
        confidence = 1 - 2 * outside / 2**n
        if confidence < CONFIDENCE:
            break
        found = Interval(ordered[k - 1], ordered[-k], confidence)
    return found


def of_share(count: int, total: int) -> Interval:
    """Return the 95 % Clopper-Pearson interval of a proportion of independent cases."""
    tail = (1 - CONFIDENCE) / 2
    low = _crossing(lambda share: _at_least(count, total, share) < tail) if count else 0.0
    high = _crossing(lambda share: _at_least(count + 1, total, share) < 1 - tail)
    return Interval(low, high if count < total else 1.0, CONFIDENCE)


def counted(value: float) -> Interval:
    """Return the interval of a figure that is the same in every run, such as a size."""
    return Interval(value, value, 1.0)


def median_columns(title: str, values: Sequence[float]) -> dict[str, float]:
    """Return the cells of a row: the median under its title, then its interval."""
    return {title: median(values), **of_median(values).columns()}


def _at_least(count: int, total: int, share: float) -> float:
    """Return the probability of at least the given number of cases."""
    return math.fsum(
        math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(count, total + 1)
    )


def _crossing(below: Callable[[float], bool]) -> float:
    """Return the point where a condition that holds at 0 stops holding."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2
