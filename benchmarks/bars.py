"""What is asked of a figure, and whether it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: Figures of which less is better; of all others more is.
AT_MOST = frozenset(
    ("us", "ms", "bytes/visit", "bytes/node", "MiB above the cap", "growth", "padding")
)


class Bar(NamedTuple):
    """A figure beside what is asked of it.

    Attributes:
        row, title: where the figure stands.
        measured, asked: both in the unit of the title.
        at_most: whether less is better.
        met: "met", "missed", or "-" where the suite leaves it open.
    """

    row: str
    title: str
    measured: float
    asked: float
    at_most: bool
    met: str

    @property
    def reached(self) -> float:
        """How much of what is asked is there: 1 and above = met."""
        better, worse = (self.asked, self.measured) if self.at_most else (self.measured, self.asked)
        return better / worse if worse > 0 else float(better >= worse)


def bar_of(row: Mapping[str, Any]) -> Bar | None:
    """Return the bar of a row; None where nothing is asked or nothing was measured.

    What is measured is ``ratio`` where the row has it, else the figure that follows ``asked``.
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
    met = measured <= asked if at_most else measured >= asked
    verdict = str(row.get("bar", "met" if met else "missed"))
    return Bar(str(row["name"]), title, float(measured), float(asked), at_most, verdict)


def judge(rows: list[dict[str, Any]]) -> None:
    """Write "met" or "missed" into the rows of which something is asked, and have not said so."""
    for row in rows:
        bar = bar_of(row)
        if bar is not None:
            row.setdefault("bar", bar.met)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a short row for each bar: asked beside measured."""
    return [_short(row) for row in rows if bar_of(row) is not None or _own_verdict(row)]


def _own_verdict(row: Mapping[str, Any]) -> bool:
    """Whether the suite judged by more than a number; what it asks then stands in its notes."""
    return row.get("bar") in ("met", "missed") and "failed" not in row


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    bar = bar_of(row)
    if bar is not None:
        asked = f"{'<=' if bar.at_most else '>='} {bar.asked:.4g}"
        title, measured, verdict = bar.title, bar.measured, bar.met
    else:
        title = next((name for name in ("ratio", "score %") if name in row), "-")
        asked, measured, verdict = "(notes)", row.get(title, "-"), row["bar"]
    return {
        "name": row["name"],
        "figure": title,
        "asked": asked,
        "measured": measured,
        "bar": verdict,
    }
