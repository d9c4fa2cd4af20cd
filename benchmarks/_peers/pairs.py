"""Paired measurements of peer and engine: counts, times and figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .shared import Rate, median, ratios


class Timed(NamedTuple):
    """One measured call.

    Attributes:
        done: number of simulations or visits.
        wall: seconds of wall-clock time.
        cpu: seconds of CPU time, summed over all threads. 0 = unknown.
    """

    done: int
    wall: float
    cpu: float = 0.0

    @property
    def rate(self) -> Rate:
        """Counts per second."""
        return Rate(self.done / self.wall, self.done / self.cpu if self.cpu > 0 else 0.0)


#: Minimum seconds for either side of a pair.
SLICE = 0.1


def timed(call: Callable[[], int]) -> Timed:
    """Measure a call that returns its count."""
    begun, used = time.perf_counter(), time.process_time()
    count = call()
    return Timed(count, time.perf_counter() - begun, time.process_time() - used)


def repeated(call: Callable[[], Timed], seconds: float) -> Timed:
    """Repeat a measured call until its total time reaches ``seconds``. Return the sums.

    A call of a few milliseconds would mostly measure the system's scheduling.
    """
    took = call()
    while took.wall < seconds:
        more = call()
        took = Timed(took.done + more.done, took.wall + more.wall, took.cpu + more.cpu)
    return took


def figures(theirs: Sequence[Timed], ours: Sequence[Timed], asked: float | None) -> dict[str, Any]:
    """Return the row's figures: medians of both sides and of their ratios, with an interval."""
    return {
        "peer/s": median([one.rate.wall for one in theirs]),
        "pyengine/s": median([one.rate.wall for one in ours]),
        "asked": asked,
        **ratios([one.rate for one in ours], [one.rate for one in theirs]),
    }
