"""Peer and engine: what each counts in its time, and the figures of both."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


def figures(theirs: Sequence[Timed], ours: Sequence[Timed], asked: float | None) -> dict[str, Any]:
    """Return the row's figures: medians of both, of their ratios, and the interval of these."""
    return {
        "peer/s": median([one.rate.wall for one in theirs]),
        "pyengine/s": median([one.rate.wall for one in ours]),
        "asked": asked,
        **ratios([one.rate for one in ours], [one.rate for one in theirs]),
    }
