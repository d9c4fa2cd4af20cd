"""How many pairs of games a sequential test takes, as a Brownian motion between two bounds.

In units of the log-likelihood ratio the motion drifts by half its variance, up where the second
hypothesis is true and down where the first one is. Time is measured in that variance: a pair of
games takes ``step ** 2`` of it, so one curve serves all tests with the same bounds.
"""

from __future__ import annotations

import math

_TERMS = 400  # of the series, which falls as exp(-n²)
_DOUBLINGS = 60  # of a time until it is long enough
_BISECTIONS = 60

#: By how many standard deviations of a step a sum passes a bound, on average [Siegmund 1985, X.2].
_OVERSHOOT = 0.583


def expected_time(lower: float, upper: float, *, rising: bool) -> float:
    """Return the mean time until the motion meets a bound [Wald 1947, section 3.5]."""
    drift = 0.5 if rising else -0.5
    low, high = math.exp(-2 * drift * lower), math.exp(-2 * drift * upper)
    above = (1 - low) / (high - low)  # the chance to meet the upper bound first
    return (above * upper + (1 - above) * lower) / drift


def undecided(time: float, lower: float, upper: float, *, rising: bool) -> float:
    """Return the chance that the motion has met neither bound by then: a series of sines."""
    width, tilt = upper - lower, 0.5 if rising else -0.5
    total = 0.0
    for n in range(1, _TERMS):
        k = n * math.pi / width
        faded = math.exp(-k * k * time / 2)
        ends = 1 - (-1) ** n * math.exp(tilt * width)
        total += faded * k * ends * math.sin(-k * lower) / (tilt * tilt + k * k)
        if faded < 1e-18:
            break
    return 2 / width * math.exp(tilt * lower - tilt * tilt * time / 2) * total


def time_until_decided(
    share: float, lower: float, upper: float, step: float, *, rising: bool
) -> float:
    """Return the time by which the motion, watched at steps, has met a bound with this chance.

    A sum of steps passes a bound by a part of a step, so the bounds are that much farther away.
    """
    beyond = _OVERSHOOT * step
    low, high = lower - beyond, upper + beyond
    long = 1.0
    for _ in range(_DOUBLINGS):
        if undecided(long, low, high, rising=rising) <= 1 - share:
            break
        long *= 2
    short = 0.0
    for _ in range(_BISECTIONS):
        middle = (short + long) / 2
        if undecided(middle, low, high, rising=rising) > 1 - share:
            short = middle
        else:
            long = middle
    return long
