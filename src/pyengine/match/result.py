"""What a match found: :class:`MatchResult`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyengine.match.statistics import PAIR_SCORES, SprtState, elo_of_score, score_interval

# Share of the usual probability that the true score is outside, so that the interval holds although
# a test ended the match. Of tests with alpha = beta = 0.01, 0.05 and 0.1, simulated as Brownian
# motions of ten drifts, an interval of 95 % held in 86 % at worst, one with this share in 95.5 %.
_OUTSIDE_AFTER_TEST = 0.25

MatchEnd: TypeAlias = Literal["games", "sprt", "stopped", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game.

    Attributes:
        pair: number of the opening, from 0.
        a_plays: 0 or 1: the player that a was.
        opening: its actions.
        moves: actions after the opening.
        result: 1, 0 or -1: won, drawn or lost by a.
        cut_short: whether ``max_plies`` ended it, without a result of the rules; it counts as
            drawn.
    """

    pair: int
    a_plays: int
    opening: tuple[int, ...]
    moves: tuple[int, ...]
    result: int
    cut_short: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class MatchResult:
    """Games between two players, seen from a's side.

    While a match goes on, and in one that was ended early, short games are a little too many among
    the finished ones.

    Attributes:
        names: of a and b.
        records: the finished games, in the order in which they ended.
        sprt: state of the sequential test, over the pairs before the first unfinished one; None
            without one.
        seconds: of this call.
        stop_reason: ``"games"``, ``"sprt"``, ``"stopped"`` or ``"interrupted"``.
        confidence: of the intervals.
    """

    names: tuple[str, str]
    records: tuple[GameRecord, ...]
    sprt: SprtState | None = None
    seconds: float = 0.0
    stop_reason: MatchEnd = "games"
    confidence: float = 0.95

    @property
    def games(self) -> int:
        """How many were finished."""
        return len(self.records)

    @property
    def wins(self) -> int:
        """Games that a won."""
        return self._count(1)

    @property
    def draws(self) -> int:
        """Games that nobody won."""
        return self._count(0)

    @property
    def cut_short(self) -> int:
        """Draws of games that ``max_plies`` ended."""
        return sum(record.cut_short for record in self.records)

    @property
    def losses(self) -> int:
        """Games that a lost."""
        return self._count(-1)

    @property
    def score(self) -> float:
        """Points a game, in [0, 1]: 1 for a win, 1/2 for a draw. NaN without a game."""
        if not self.records:
            return math.nan
        return (self.wins + self.draws / 2) / self.games

    @property
    def score_interval(self) -> tuple[float, float]:
        """Interval of the score; pairs of games are the independent samples.

        With a sequential test, whose results decide how many games there are, it is wider, so that
        it holds after the end by the test; by simulation, not by proof.
        :attr:`interval_note` says what is left.
        """
        groups = list(self._points().values())
        outside = (1 - self.confidence) * (1.0 if self.sprt is None else _OUTSIDE_AFTER_TEST)
        return score_interval([sum(g) for g in groups], [len(g) for g in groups], 1 - outside)

    @property
    def interval_note(self) -> str | None:
        """What a reader of the interval must know of the match's end; None: nothing."""
        if self.stop_reason == "stopped":
            return (
                "the interval is that of a number of games fixed beforehand; "
                "it holds less often where results decided when to stop"
            )
        if self.sprt is not None:
            return (
                "the interval is wider than without a test, so that it holds after the end by one"
            )
        return None

    @property
    def elo(self) -> float:
        """How much stronger a is than b, in Elo; infinite where all games were won or lost."""
        return elo_of_score(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The score's interval in Elo."""
        low, high = self.score_interval
        return elo_of_score(low), elo_of_score(high)

    @property
    def pairs(self) -> tuple[int, int, int, int, int]:
        """How many finished pairs gave a 0, 1/2, 1, 1 1/2 and 2 points."""
        scores = [sum(points) / 2 for points in self._points().values() if len(points) == 2]
        counts = [scores.count(score) for score in PAIR_SCORES]
        return (counts[0], counts[1], counts[2], counts[3], counts[4])

    def _count(self, result: int) -> int:
        return sum(record.result == result for record in self.records)

    def _points(self) -> dict[int, list[float]]:
        """Points of a by opening."""
        points: dict[int, list[float]] = {}
        for record in self.records:
            points.setdefault(record.pair, []).append((record.result + 1) / 2)
        return points

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON: what is infinite or NaN becomes None. No records."""
        test = self.sprt
        return {
            "names": list(self.names),
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "cut_short": self.cut_short,
            "score": _finite(self.score),
            "score_interval": [_finite(end) for end in self.score_interval],
            "elo": _finite(self.elo),
            "elo_interval": [_finite(end) for end in self.elo_interval],
            "confidence": self.confidence,
            "interval_note": self.interval_note,
            "pairs": list(self.pairs),
            "sprt": None if test is None else dict(vars(test)),
            "seconds": self.seconds,
            "stop_reason": self.stop_reason,
        }

    def __repr__(self) -> str:
        """Return the essentials in one line."""
        return (
            f"MatchResult(wins={self.wins}, draws={self.draws}, losses={self.losses}, "
            f"score={self.score:.4f}, stop_reason={self.stop_reason!r})"
        )

    def __str__(self) -> str:
        """Return the figures with their intervals, three to seven lines."""
        a, b = self.names
        if not self.records:
            return f"{a} - {b}: no game finished"
        low, high = self.score_interval
        weakest, strongest = self.elo_interval
        lines = [
            f"{a} - {b}: {self.games:,} games: +{self.wins} ={self.draws} -{self.losses}"
            + (f" ({self.cut_short} cut short)" if self.cut_short else ""),
            f"score {self.score:.1%} [{low:.1%}, {high:.1%}], "
            f"Elo {_elo(self.elo)} [{_elo(weakest)}, {_elo(strongest)}]",
            "pairs with 0, 1/2, 1, 1 1/2, 2 points: " + ", ".join(map(str, self.pairs)),
        ]
        if self.sprt is not None:
            test = self.sprt
            verdict = f"{test.accepted} accepted" if test.accepted else "not decided"
            lines.append(
                f"SPRT: {verdict} after {test.pairs:,} pairs of games "
                f"({test.expected_games:,} games expected),\nlog-likelihood ratio "
                f"{test.llr:+.2f} between {test.lower:+.2f} and {test.upper:+.2f}"
            )
        if self.stop_reason in ("stopped", "interrupted"):
            lines.append(f"ended early: {self.stop_reason}")
        if self.interval_note is not None:
            lines.append(self.interval_note)
        return "\n".join(lines)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _elo(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else f"{value:+}"
