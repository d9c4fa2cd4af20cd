"""The result of a match: :class:`MatchResult`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyengine.games.outcomes import Loss
from pyengine.match.interval import score_interval
from pyengine.match.statistics import PAIR_SCORES, SprtState, elo_of_score
from pyengine.show.bars import shares_svg
from pyengine.show.picture import image_html, text_html

# Factor of the error probability of the interval after a sequential test. In simulated tests
# (Brownian motions with ten drifts; alpha = beta = 0.01, 0.05 and 0.1) a plain interval of 95 %
# covered the true score in 86 % at worst, with this factor in 95.5 %.
_OUTSIDE_AFTER_TEST = 0.25

MatchEnd: TypeAlias = Literal["games", "sprt", "stopped", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game.

    Attributes:
        pair: number of the opening, from 0.
        a_plays: player number of a, 0 or 1.
        opening: actions of the opening.
        moves: actions after the opening.
        result: 1, 0 or -1 if a won, drew or lost.
        cut_short: ``max_plies`` ended the game; it counts as a draw.
        loss: how the loser ended the game, ``"resigns"`` or ``"loses on time"``; None if it was
            played to its end.
    """

    pair: int
    a_plays: int
    opening: tuple[int, ...]
    moves: tuple[int, ...]
    result: int
    cut_short: bool = False
    loss: Loss | None = None

    @property
    def points(self) -> float:
        """The points of a: 1, 1/2 or 0."""
        return (self.result + 1) / 2


@dataclass(frozen=True, kw_only=True, repr=False)
class MatchResult:
    """The result of a match, from a's perspective.

    Until all games are finished, short games are slightly overrepresented.

    Attributes:
        records: the finished games, in the order in which they ended.
        sprt: state of the sequential test, over the pairs before the first unfinished one.
        seconds: duration of this call.
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
        """Number of finished games."""
        return len(self.records)

    @property
    def wins(self) -> int:
        """Games won by a."""
        return self._count(1)

    @property
    def draws(self) -> int:
        """Drawn games."""
        return self._count(0)

    @property
    def cut_short(self) -> int:
        """Games ended by ``max_plies``, counted as draws."""
        return sum(record.cut_short for record in self.records)

    @property
    def losses(self) -> int:
        """Games lost by a."""
        return self._count(-1)

    @property
    def losses_on_time(self) -> tuple[int, int]:
        """Games that a and b lost on time."""
        return self._lost(Loss.on_time)

    @property
    def resignations(self) -> tuple[int, int]:
        """Games that a and b resigned."""
        return self._lost(Loss.resigns)

    @property
    def score(self) -> float:
        """Points per game, in [0, 1]: 1 for a win, 1/2 for a draw; NaN without games."""
        if not self.records:
            return math.nan
        return (self.wins + self.draws / 2) / self.games

    @property
    def score_interval(self) -> tuple[float, float]:
        """Confidence interval of the score; pairs of games are the independent samples.

        With a sequential test it is wider, to keep its coverage although results decide the number
        of games (by simulation, not by proof). See :attr:`interval_note`.
        """
        groups = list(self._points().values())
        outside = (1 - self.confidence) * (1.0 if self.sprt is None else _OUTSIDE_AFTER_TEST)
        return score_interval([sum(g) for g in groups], [len(g) for g in groups], 1 - outside)

    @property
    def interval_note(self) -> str | None:
        """A caveat about the interval due to the end of the match, or None."""
        if self.stop_reason == "stopped":
            return (
                "the interval assumes a fixed number of games; "
                "it is too narrow if results decided when to stop"
            )
        if self.sprt is not None:
            return "the interval is widened because a test may end the match"
        return None

    @property
    def elo(self) -> float:
        """Elo of a relative to b; infinite if a won or lost all games."""
        return elo_of_score(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The interval of the score in Elo."""
        low, high = self.score_interval
        return elo_of_score(low), elo_of_score(high)

    @property
    def pairs(self) -> tuple[int, ...]:
        """Number of finished pairs in which a scored 0, 1/2, 1, 1 1/2 and 2 points."""
        scores = [sum(points) / 2 for points in self._points().values() if len(points) == 2]
        return tuple(scores.count(score) for score in PAIR_SCORES)

    def _count(self, result: int) -> int:
        return sum(record.result == result for record in self.records)

    def _lost(self, how: Loss) -> tuple[int, int]:
        results = [record.result for record in self.records if record.loss is how]
        return results.count(-1), results.count(1)

    def _points(self) -> dict[int, list[float]]:
        """Return the points of a by pair."""
        points: dict[int, list[float]] = {}
        for record in self.records:
            points.setdefault(record.pair, []).append(record.points)
        return points

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the games; NaN and infinity become None."""
        test = self.sprt
        return {
            "names": list(self.names),
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "cut_short": self.cut_short,
            "losses_on_time": list(self.losses_on_time),
            "resignations": list(self.resignations),
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

    def _ends(self) -> str:
        """Return how many games ended in special ways, in parentheses."""
        notes = [f"{self.cut_short} cut short"] if self.cut_short else []
        for ending, counts in (
            ("lost on time", self.losses_on_time),
            ("resigned", self.resignations),
        ):
            for name, count in zip(self.names, counts, strict=True):
                if count:
                    notes.append(f"{count} {ending} by {name}")
        return f" ({', '.join(notes)})" if notes else ""

    def __repr__(self) -> str:
        return (
            f"MatchResult(wins={self.wins}, draws={self.draws}, losses={self.losses}, "
            f"score={self.score:.4f}, stop_reason={self.stop_reason!r})"
        )

    def _repr_html_(self) -> str:
        """Return a bar of wins, draws and losses with the text, for notebooks."""
        counts = ((self.wins, "wins"), (self.draws, "draws"), (self.losses, "losses"))
        return image_html(shares_svg(counts), f"results of {self.names[0]}") + text_html(str(self))

    def __str__(self) -> str:
        a, b = self.names
        if not self.records:
            return f"{a} - {b}: no game finished"
        low, high = self.score_interval
        weakest, strongest = self.elo_interval
        lines = [
            f"{a} - {b}: {self.games:,} games: +{self.wins} ={self.draws} -{self.losses}"
            + self._ends(),
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
