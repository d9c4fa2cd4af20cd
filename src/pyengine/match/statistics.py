"""What games prove: score, its interval, Elo, and the sequential probability ratio test.

The two games of a pair share an opening and are not independent: a pair is one sample. Its score is
0, 1/4, 1/2, 3/4 or 1, the mean of the two games, and its variance is taken from the pairs
themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pyengine.base.arguments import elements, number, short_repr
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.match.duration import expected_time, time_until_decided
from pyengine.match.interval import score_interval

__all__ = [
    "PAIR_SCORES",
    "Sprt",
    "SprtState",
    "default_games",
    "elo_of_score",
    "score_interval",
    "score_of_elo",
]

#: Of a pair of games, the worst first.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)

_MOST_ELO = 4000.0  # a score that a double tells from 1
_LEAST_ERROR = 1e-12  # below, the number of games is lost to rounding
_ELO_SCALE = 400.0  # Elo: ten times the odds
_WITHOUT_TEST = 100  # games of a match
_PAIR = 2  # games
_LEAST_VARIANCE = 1e-4  # of a pair's score, next to 0 and 1
_EMPTY = 1e-3  # pairs that a result counts for that was never seen
_STEPS = 100  # of a bisection: more than a double has bits


def elo_of_score(score: float) -> float:
    """Return the Elo difference at which this score in [0, 1] is expected; infinite at 0 and 1."""
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
    """How far a sequential test has come.

    Attributes:
        llr: log-likelihood ratio of ``elo1`` to ``elo0``.
        lower: at or below it ``elo0`` is accepted.
        upper: at or above it ``elo1`` is accepted.
        pairs: of games that it counts.
        expected_games: of the whole test, see :attr:`Sprt.expected_games`.
        accepted: ``"elo0"`` or ``"elo1"``; None = not decided.
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

    The likelihoods are those of the five results of a pair of games (0, 1/2, 1, 1 1/2, 2 points),
    each hypothesis with the most likely shares that have its mean (the generalised test of Van den
    Bergh, as fishtest has it).

    How many games it takes is computed for independent games without draws; draws make a test
    shorter at the same Elo.

    Attributes:
        elo0 (float, default 0.0): logistic Elo of the first hypothesis, -4000 to 4000.
        elo1 (float, default 10.0): of the second hypothesis, above ``elo0``, at most 4000.
        alpha (float in [1e-12, 0.5), default 0.05): probability to accept ``elo1`` when ``elo0`` is
            true.
        beta (float in [1e-12, 0.5), default 0.05): probability to accept ``elo0`` when ``elo1`` is
            true.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Check all fields."""
        for name in ("elo0", "elo1"):
            wanted = f"a number in [-{_MOST_ELO:g}, {_MOST_ELO:g}]"
            number(f"sprt: {name}", getattr(self, name), wanted, lambda e: abs(e) <= _MOST_ELO)
        if not score_of_elo(self.elo0) < score_of_elo(self.elo1):
            raise ConfigError(f"sprt: expected elo0 < elo1, got {self.elo0} and {self.elo1}")
        for name in ("alpha", "beta"):
            wanted = f"a number in [{_LEAST_ERROR:g}, 0.5)"
            number(f"sprt: {name}", getattr(self, name), wanted, lambda p: _LEAST_ERROR <= p < 0.5)

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
        """The mean number of games until it is decided, at elo0 or at elo1, whichever is more."""
        times = (expected_time(self.lower, self.upper, rising=at1) for at1 in (False, True))
        return self._games(times)

    def games_for(self, decided: float = 0.9) -> int:
        """Return a number of games that decides so many tests, at elo0 and at elo1.

        Args:
            decided: share of the tests, in (0, 1).

        """
        number("decided", decided, "a number in (0, 1)", lambda share: 0 < share < 1)
        steps = zip((False, True), self._steps, strict=True)
        return self._games(
            time_until_decided(decided, self.lower, self.upper, step, rising=at1)
            for at1, step in steps
        )

    @property
    def _steps(self) -> tuple[float, float]:
        """Standard deviations of the log-likelihood ratio of a pair, at elo0 and at elo1."""
        low, high = score_of_elo(self.elo0), score_of_elo(self.elo1)
        variances = [max(s * (1 - s) / _PAIR, _LEAST_VARIANCE) for s in (low, high)]
        return (high - low) / math.sqrt(variances[0]), (high - low) / math.sqrt(variances[1])

    def _games(self, times: Iterable[float]) -> int:
        """The larger number of games of the times at elo0 and at elo1."""
        pairs = max(time / step**2 for time, step in zip(times, self._steps, strict=True))
        return _PAIR * math.ceil(pairs)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of elo1 to elo0.

        Args:
            counts: [5], how many pairs had each of :data:`PAIR_SCORES`.

        Raises:
            ConfigError: they are no five ints of at least 0.

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
        """Return how far the test has come with these counts; see :meth:`llr`."""
        counts = _counts(counts)
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
            pairs=sum(counts),
            expected_games=self.expected_games,
            accepted=accepted,
        )


def default_games(sprt: Sprt | None) -> int:
    """Return the default number of games."""
    return _WITHOUT_TEST if sprt is None else sprt.games_for()


def _counts(counts: Sequence[int]) -> list[int]:
    expected = f"{len(PAIR_SCORES)} ints of at least 0"
    found = [integer("counts", count, 0) for count in elements("counts", counts, expected)]
    if len(found) != len(PAIR_SCORES):
        raise ConfigError(f"counts: expected {expected}, got {short_repr(counts)}")
    return found


def _tilt(shares: Sequence[float], mean: float) -> float:
    """Lagrange's multiplier t of the likeliest distribution with this mean.

    The distribution is ``share / (1 + t (score - mean))``; its mean falls as t grows.
    """
    low, high = -1 / (PAIR_SCORES[-1] - mean), 1 / (mean - PAIR_SCORES[0])
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        excess = sum(
            share * (s - mean) / (1 + middle * (s - mean))
            for share, s in zip(shares, PAIR_SCORES, strict=True)
        )
        low, high = (middle, high) if excess > 0 else (low, middle)
    return (low + high) / 2
