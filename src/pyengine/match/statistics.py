"""Elo and the sequential probability ratio test.

The two games of a pair share an opening and are not independent, so a pair is one sample. Its score
is the mean of the two games: 0, 1/4, 1/2, 3/4 or 1. Its variance is estimated from the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pyengine.base.checks import elements, integer, number, short_repr
from pyengine.errors import ConfigError

#: Possible scores of a pair of games.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)

_MAX_ELO = 4000.0  # beyond it, a double rounds the score to 1
_MIN_ERROR = 1e-12  # below it, rounding dominates the number of games
_ELO_SCALE = 400.0  # Elo per factor of 10 in the odds
_GAMES_PER_PAIR = 2
_MIN_VARIANCE = 1e-4  # of a pair's score
_EMPTY = 1e-3  # count of a pair score that has not occurred
_STEPS = 100  # of a bisection: more than a double has bits
_TERMS = 400  # of the series, which decays like exp(-n²)
_DOUBLINGS = 60  # in the search for the upper limit of a time

#: Mean overshoot of a bound, in standard deviations of a step [Siegmund 1985, X.2].
_OVERSHOOT = 0.583


def elo_of_score(score: float) -> float:
    """Return the Elo difference of an expected score in [0, 1]; infinite at 0 and 1."""
    if math.isnan(score):
        return math.nan
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return _ELO_SCALE * math.log10(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Return the expected score in [0, 1] of a player who is ``elo`` stronger."""
    return 1 / (1 + 10 ** (-elo / _ELO_SCALE))


@dataclass(frozen=True, kw_only=True)
class SprtState:
    """The state of a sequential test.

    ``elo0`` is accepted once the log-likelihood ratio ``llr`` of ``elo1`` to ``elo0`` is at most
    ``lower``, ``elo1`` once it is at least ``upper``; ``accepted`` is None until then.
    """

    llr: float
    lower: float
    upper: float
    pairs: int
    expected_games: int
    accepted: Literal["elo0", "elo1"] | None


@dataclass(frozen=True, kw_only=True)
class Sprt:
    """A sequential probability ratio test: is a player ``elo1`` stronger, or only ``elo0``?

    This is Van den Bergh's generalised test on the five scores of a pair of games, as in fishtest:
    each hypothesis is represented by the most likely distribution with its mean.

    The expected number of games assumes independent games without draws; draws shorten a test at
    the same Elo.

    Attributes:
        elo0: logistic Elo of the first hypothesis, -4000 to 4000.
        elo1: of the second hypothesis, above ``elo0``, at most 4000.
        alpha: probability of accepting ``elo1`` if ``elo0`` is true, in [1e-12, 0.5).
        beta: probability of accepting ``elo0`` if ``elo1`` is true, in [1e-12, 0.5).
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            expected = f"a number in [-{_MAX_ELO:g}, {_MAX_ELO:g}]"
            number(f"sprt: {name}", getattr(self, name), expected, lambda e: abs(e) <= _MAX_ELO)
        if not score_of_elo(self.elo0) < score_of_elo(self.elo1):
            raise ConfigError(f"sprt: expected elo0 < elo1, got {self.elo0} and {self.elo1}")
        for name in ("alpha", "beta"):
            expected = f"a number in [{_MIN_ERROR:g}, 0.5)"
            number(f"sprt: {name}", getattr(self, name), expected, lambda p: _MIN_ERROR <= p < 0.5)

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which elo0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which elo1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    @property
    def expected_games(self) -> int:
        """Mean number of games to a decision: the larger of the means at elo0 and elo1."""
        times = (expected_time(self.lower, self.upper, rising=at1) for at1 in (False, True))
        return self._games(times)

    def games_for(self, decided: float = 0.9) -> int:
        """Return the number of games that decides a share of tests, at elo0 and at elo1."""
        number("decided", decided, "a number in (0, 1)", lambda share: 0 < share < 1)
        steps = zip((False, True), self._steps, strict=True)
        return self._games(
            time_until_decided(decided, self.lower, self.upper, step, rising=at1)
            for at1, step in steps
        )

    @property
    def _steps(self) -> tuple[float, float]:
        """Standard deviations of the log-likelihood ratio of a pair at elo0 and elo1."""
        low, high = score_of_elo(self.elo0), score_of_elo(self.elo1)
        variances = [max(s * (1 - s) / _GAMES_PER_PAIR, _MIN_VARIANCE) for s in (low, high)]
        return (high - low) / math.sqrt(variances[0]), (high - low) / math.sqrt(variances[1])

    def _games(self, times: Iterable[float]) -> int:
        """Return the larger number of games, for times at elo0 and elo1."""
        pairs = max(time / step**2 for time, step in zip(times, self._steps, strict=True))
        return _GAMES_PER_PAIR * math.ceil(pairs)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of elo1 to elo0.

        Args:
            counts: int[5], the number of pairs with each of :data:`PAIR_SCORES`.

        """
        counts = _counts(counts)
        pairs = sum(counts)
        if pairs == 0:
            return 0.0
        weights = [max(float(count), _EMPTY) for count in counts]
        shares = [weight / sum(weights) for weight in weights]
        low, high = score_of_elo(self.elo0), score_of_elo(self.elo1)
        tilt0, tilt1 = _tilt(shares, low), _tilt(shares, high)
        terms = (
            share * (math.log1p(tilt0 * (s - low)) - math.log1p(tilt1 * (s - high)))
            for share, s in zip(shares, PAIR_SCORES, strict=True)
        )
        return pairs * math.fsum(terms)

    def state(self, counts: Sequence[int]) -> SprtState:
        """Return the state of the test for counts as in :meth:`llr`."""
        llr = self.llr(counts)
        accepted: Literal["elo0", "elo1"] | None = None
        if llr >= self.upper:
            accepted = "elo1"
        elif llr <= self.lower:
            accepted = "elo0"
        return SprtState(
            llr=llr,
            lower=self.lower,
            upper=self.upper,
            pairs=int(sum(counts)),
            expected_games=self.expected_games,
            accepted=accepted,
        )


# The log-likelihood ratio is approximated by a Brownian motion between two bounds, with a drift of
# half its variance: up if elo1 is true, down if elo0 is. Time is measured in its variance, so a
# pair of games takes ``step ** 2`` and one curve serves all tests with the same bounds.


def expected_time(lower: float, upper: float, *, rising: bool) -> float:
    """Return the mean time until the motion reaches a bound [Wald 1947, section 3.5]."""
    drift = 0.5 if rising else -0.5
    low, high = math.exp(-2 * drift * lower), math.exp(-2 * drift * upper)
    above = (1 - low) / (high - low)  # probability of the upper bound
    return (above * upper + (1 - above) * lower) / drift


def undecided(time: float, lower: float, upper: float, *, rising: bool) -> float:
    """Return the probability that the motion has reached neither bound: a series of sines."""
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
    """Return the time by which a share of tests is decided, if checked once per step.

    A sum of steps overshoots a bound by part of a step, so the bounds are moved out by that much.
    """
    beyond = _OVERSHOOT * step
    low, high = lower - beyond, upper + beyond
    long = 1.0
    for _ in range(_DOUBLINGS):
        if undecided(long, low, high, rising=rising) <= 1 - share:
            break
        long *= 2
    return _bisect(lambda time: undecided(time, low, high, rising=rising) > 1 - share, 0.0, long)


def _counts(counts: Sequence[int]) -> list[int]:
    expected = f"{len(PAIR_SCORES)} ints of at least 0"
    result = [integer("counts", count, 0) for count in elements("counts", counts, expected)]
    if len(result) != len(PAIR_SCORES):
        raise ConfigError(f"counts: expected {expected}, got {short_repr(counts)}")
    return result


def _tilt(shares: Sequence[float], mean: float) -> float:
    """Return the Lagrange multiplier t of the most likely distribution with a mean.

    The distribution is ``share / (1 + t (score - mean))``; its mean falls as t grows.
    """
    low, high = -1 / (PAIR_SCORES[-1] - mean), 1 / (mean - PAIR_SCORES[0])

    def excess(tilt: float) -> float:
        return sum(
            share * (s - mean) / (1 + tilt * (s - mean))
            for share, s in zip(shares, PAIR_SCORES, strict=True)
        )

    return _bisect(lambda tilt: excess(tilt) > 0, low, high)


def _bisect(is_below: Callable[[float], bool], low: float, high: float) -> float:
    """Return the number between two others up to which a predicate is true."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
