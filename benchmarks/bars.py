"""Targets of the benchmark figures, and verdicts: met, missed, or not decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING or __package__:
    from .intervals import CONFIDENCE, Interval
else:  # run as a script
    from intervals import CONFIDENCE, Interval

#: Figures for which lower is better. Higher is better for all others.
AT_MOST = frozenset(
    (
        *("us", "ms", "bytes/visit", "bytes/node", "MiB above the cap", "growth", "padding"),
        *("x weights", "x tree", "off", "cpu us/row", "switches/row"),
    )
)
MET, MISSED, OPEN = "met", "missed", "not decided"


class Bar(NamedTuple):
    """A measured figure and its target.

    Attributes:
        row, title: the figure's row and column.
        measured, asked: the measurement and its target, in the unit of the title.
        at_most: whether lower is better.
        interval: interval of the measurement, or None if the suite gives none.
        verdict: the suite's verdict if it gives one, else :func:`verdict_of`.
    """

    row: str
    title: str
    measured: float
    asked: float
    at_most: bool
    interval: Interval | None
    verdict: str

    @property
    def reached(self) -> float:
        """Return the fraction of the target reached: 1 or more if the figure alone meets it."""
        better, worse = (self.asked, self.measured) if self.at_most else (self.measured, self.asked)
        return better / worse if worse > 0 else float(better >= worse)


def verdict_of(interval: Interval | None, asked: float, at_most: bool) -> str:
    """Return "met" or "missed" if the whole interval is on one side, else "not decided".

    A figure with no interval, or with less than 95 % confidence, is also "not decided".
    """
    if interval is None or interval.confidence < CONFIDENCE:
        return OPEN
    worst, best = (interval.high, interval.low) if at_most else (interval.low, interval.high)
    sign = -1 if at_most else 1
    if sign * worst >= sign * asked:
        return MET
    return MISSED if sign * best < sign * asked else OPEN


def bar_of(row: Mapping[str, Any]) -> Bar | None:
    """Return the bar of a row, or None if it has no target or no measurement.

    The measured figure is ``ratio`` if the row has one, else the figure after ``asked``.
    """
    asked = row.get("asked")
    if asked is None or "failed" in row:
        return None
    titles = list(row)
    following = titles[titles.index("asked") + 1 :]
    title = "ratio" if "ratio" in row else next(iter(following), None)
    measured = None if title is None else row[title]
    if title is None or not isinstance(measured, int | float):
        return None
    at_most = title in AT_MOST
    interval = interval_of(row)
    verdict = str(row.get("bar", verdict_of(interval, float(asked), at_most)))
    return Bar(str(row["name"]), title, float(measured), float(asked), at_most, interval, verdict)


def interval_of(row: Mapping[str, Any]) -> Interval | None:
    """Return the interval recorded in a row."""
    cells = [row.get(title) for title in ("from", "to", "confidence %")]
    if None in cells:
        return None
    low, high, percent = map(float, cells)  # type: ignore[arg-type]
    return Interval(low, high, percent / 100)


def decide(rows: list[dict[str, Any]]) -> None:
    """Add a verdict to each row that has a target but no verdict yet."""
    for row in rows:
        bar = bar_of(row)
        if bar is not None:
            row.setdefault("bar", bar.verdict)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one short row per bar: the target, the measurement and its interval."""
    return [_short(bar) for row in rows if (bar := bar_of(row)) is not None]


def _short(bar: Bar) -> dict[str, Any]:
    cells = {
        "name": bar.row,
        "figure": bar.title,
        "asked": f"{'<=' if bar.at_most else '>='} {bar.asked:.4g}",
        "measured": bar.measured,
    }
    return cells | (bar.interval.columns() if bar.interval else {}) | {"bar": bar.verdict}
