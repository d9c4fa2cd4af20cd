"""What a measurement found, beside what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyengine.match import MatchResult
from pyengine.match.statistics import score_interval

__all__ = ["Finding", "of_match", "share"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A share of cases, or the score of a match."""

    name: str
    figure: float  #: in [0, 1]
    interval: tuple[float, float] | None  #: of 95 %; None where all cases there are were counted
    count: int  #: cases or games
    least: float | None = None  #: asked, in [0, 1]
    more_than: float | None = None  #: asked, in [0, 1]: to be exceeded
    most: float | None = None  #: asked, in [0, 1]
    goal: bool = False  #: asked beyond the target
    told: str = ""  #: the counts behind the figure

    @property
    def asked(self) -> str:
        """What was asked, "" where it is for information."""
        limits = ((">=", self.least), (">", self.more_than), ("<=", self.most))
        text = ", ".join(f"{sign} {limit:.1%}" for sign, limit in limits if limit is not None)
        return f"{text} (goal)" if text and self.goal else text

    @property
    def reached(self) -> bool | None:
        """Whether the figure is what was asked; None where nothing was."""
        if self.least is None and self.more_than is None and self.most is None:
            return None
        return (
            (self.least is None or self.figure >= self.least)
            and (self.more_than is None or self.figure > self.more_than)
            and (self.most is None or self.figure <= self.most)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON and TOML, without what is empty."""
        values = {**asdict(self), "figure": round(self.figure, 4), "reached": self.reached}
        if self.interval is not None:
            values["interval"] = [round(end, 4) for end in self.interval]
        if not self.goal:
            del values["goal"]
        return {key: value for key, value in values.items() if value is not None and value != ""}

    def __str__(self) -> str:
        """Return a line for readers."""
        text = f"{self.name}: {self.figure:.1%}"
        if self.interval is not None:
            text += f" [{self.interval[0]:.1%}, {self.interval[1]:.1%}]"
        text += f" of {self.count}"
        if self.told:
            text += f" ({self.told})"
        if self.asked:
            text += f", asked {self.asked}: {'reached' if self.reached else 'missed'}"
        return text


def share(
    name: str,
    hits: Sequence[bool],
    *,
    complete: bool = False,
    least: float | None = None,
    most: float | None = None,
    goal: bool = False,
) -> Finding:
    """Return the share of cases in which something is so.

    Args:
        name: what is so.
        hits: whether, case by case; at least one.
        complete: these are all cases there are, so that the share has no interval.
        least, most, goal: see :class:`Finding`.

    """
    points = [float(hit) for hit in hits]
    return Finding(
        name=name,
        figure=sum(points) / len(points),
        interval=None if complete else score_interval(points, [1] * len(points)),
        count=len(points),
        least=least,
        most=most,
        goal=goal,
        told=f"{sum(map(bool, hits))} of {len(points)}",
    )


def of_match(
    name: str,
    result: MatchResult,
    *,
    least: float | None = None,
    more_than: float | None = None,
) -> Finding:
    """Return the score of a match, a draw as half a win."""
    return Finding(
        name=name,
        figure=result.score,
        interval=result.score_interval,
        count=result.games,
        least=least,
        more_than=more_than,
        told=f"+{result.wins} ={result.draws} -{result.losses}",
    )
