"""Peer and engine in turns: what each counts a second, and the medians of their ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from .shared import Rate, median, ratios


class Timed(NamedTuple):
    """One measured call.

    Attributes:
        done: what was counted, simulations or visits.
        wall: seconds by the clock.
        cpu: seconds of processor time, all threads together; 0 = not known.
    """

    done: int
    wall: float
    cpu: float = 0.0

    @property
    def rate(self) -> Rate:
        """What was counted a second."""
        return Rate(self.done / self.wall, self.done / self.cpu if self.cpu > 0 else 0.0)


Pair = tuple[Timed, Timed]

#: Seconds of either side of a pair, at least.
SLICE = 0.1


def timed(call: Callable[[], int]) -> Timed:
    """Make a call that returns what it counts."""
    begun, used = time.perf_counter(), time.process_time()
    count = call()
    return Timed(count, time.perf_counter() - begun, time.process_time() - used)


def repeated(call: Callable[[], Timed], seconds: float) -> Timed:
    """Make a measured call until it took the seconds together; return the sums.

    A call of few milliseconds would measure how the system shares out the processor.
    """
    took = call()
    while took.wall < seconds:
        more = call()
        took = Timed(took.done + more.done, took.wall + more.wall, took.cpu + more.cpu)
    return took


def paired(
    peer: Callable[[], Timed],
    ours: Callable[[], Timed],
    seconds: float,
    least: int = 3,
    most: int = 100,
) -> list[Pair]:
    """Measure in turns, peer first, until the seconds are over; the caller has warmed both up."""
    pairs: list[Pair] = []
    begun = time.perf_counter()
    while len(pairs) < least or (len(pairs) < most and time.perf_counter() - begun < seconds):
        pairs.append((peer(), ours()))
    return pairs


def figures(pairs: list[Pair], asked: float | None) -> dict[str, float | None]:
    """Return the row's figures: medians of both, of their ratios, and the extremes of these."""
    theirs = [pair[0].rate for pair in pairs]
    ours = [pair[1].rate for pair in pairs]
    each = [b.wall / a.wall for a, b in zip(theirs, ours, strict=True)]
    known = all(rate.cpu > 0 for rate in [*theirs, *ours])
    return {
        "peer/s": median([rate.wall for rate in theirs]),
        "pyengine/s": median([rate.wall for rate in ours]),
        "ratio": median(each),
        "asked": asked,
        "cpu ratio": ratios(ours, theirs)["cpu ratio"] if known else None,
        "worst": min(each),
        "best": max(each),
        "pairs": len(pairs),
    }
