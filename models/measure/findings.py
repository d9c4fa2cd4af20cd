"""The results of measurements, compared with their targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyengine.match import MatchResult
from pyengine.match.interval import score_interval

__all__ = ["Finding", "of_match", "share"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A share of cases, or the score of a match."""

    name: str
    figure: float  #: in [0, 1]
    interval: tuple[float, float] | None  #: 95 %; None if the count covers all possible cases
    count: int  #: cases or games
    least: float | None = None  #: target, in [0, 1]
    more_than: float | None = None  #: target, in [0, 1], exclusive
    most: float | None = None  #: target, in [0, 1]
    goal: bool = False  #: whether the target is optional
    result: str = ""  #: the counts behind the figure

    @property
    def target(self) -> str:
        """The target in words, "" if there is none."""
        limits = ((">=", self.least), (">", self.more_than), ("<=", self.most))
        text = ", ".join(f"{sign} {limit:.1%}" for sign, limit in limits if limit is not None)
        return f"{text} (optional)" if text and self.goal else text

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None if there is none."""
        if self.least is None and self.more_than is None and self.most is None:
            return None
        return (
            (self.least is None or self.figure >= self.least)
            and (self.more_than is None or self.figure > self.more_than)
            and (self.most is None or self.figure <= self.most)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON and TOML, without empty fields."""
        values = {**asdict(self), "figure": round(self.figure, 4), "reached": self.reached}
        if self.interval is not None:
            values["interval"] = [round(end, 4) for end in self.interval]
        if not self.goal:
            del values["goal"]
        return {key: value for key, value in values.items() if value is not None and value != ""}

    def __str__(self) -> str:
        """Return one line of text."""
        text = f"{self.name}: {self.figure:.1%}"
        if self.interval is not None:
            text += f" [{self.interval[0]:.1%}, {self.interval[1]:.1%}]"
        text += f" of {self.count}"
        if self.result:
            text += f" ({self.result})"
        if self.target:
            text += f", target {self.target}: {'reached' if self.reached else 'missed'}"
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
    """Return the share of hits.

    Args:
        name: name of the finding.
        hits: one bool per case, at least one.
        complete: whether these are all possible cases, so that the share has no interval.
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
        result=f"{sum(map(bool, hits))} of {len(points)}",
    )


def of_match(
    name: str,
    result: MatchResult,
    *,
    least: float | None = None,
    more_than: float | None = None,
) -> Finding:
    """Return the score of a match, counting a draw as half a win."""
    return Finding(
        name=name,
        figure=result.score,
        interval=result.score_interval,
        count=result.games,
        least=least,
        more_than=more_than,
        result=f"+{result.wins} ={result.draws} -{result.losses}",
    )
