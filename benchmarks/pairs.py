"""Paired measurements, taken alternately, and their statistics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .common import Options
if TYPE_CHECKING or __package__:
    from .intervals import median, median_columns
else:  # run as a script
    from intervals import median, median_columns


class Rate(NamedTuple):
    """Counts per second.

    Attributes:
        wall: per second of wall-clock time.
        cpu: per second of processor time over all threads, which other programs disturb less.
            0 = unknown.
    """

    wall: float
    cpu: float


class Pace(NamedTuple):
    """Number and duration of the measurements.

    Attributes:
        seconds: time after which no further measurement starts, once there are ``least``.
        least, most: number of measurements. Six is the minimum for a 95 % interval of the median.
    """

    seconds: float
    least: int = 6
    most: int = 100

    def goes_on(self, done: int, seconds: float) -> bool:
        """Return whether to measure again after this many measurements."""
        return done < self.least or (done < self.most and seconds < self.seconds)


def pace(options: Options, seconds: float = 0.0, least: int = 6, most: int = 100) -> Pace:
    """Return the pace for the options. A quick run measures once."""
    return Pace(0.0, 1, 1) if options.quick else Pace(seconds, least, most)


def in_turns(pace: Pace, *sides: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """Measure the sides alternately (A B, B A, A B, ...) so that none benefits from its position.

    Returns:
        The rounds: the results of all sides, in the order of the sides. The number of rounds is
        even, so that each side goes first equally often.
    """
    rounds: list[tuple[Any, ...]] = []
    begun = time.perf_counter()
    while len(rounds) % 2 or pace.goes_on(len(rounds), time.perf_counter() - begun):
        backwards = len(rounds) % 2 == 1
        taken = [side() for side in (sides[::-1] if backwards else sides)]
        rounds.append(tuple(taken[::-1] if backwards else taken))
    return rounds


def samples(pace: Pace, call: Callable[[], Any]) -> list[Any]:
    """Repeat a call for as long as the pace asks, and return the results."""
    taken: list[Any] = []
    begun = time.perf_counter()
    while pace.goes_on(len(taken), time.perf_counter() - begun):
        taken.append(call())
    return taken


def ratios(ours: Sequence[Rate], theirs: Sequence[Rate]) -> dict[str, Any]:
    """Return the cells of a row: the median of the paired wall-clock ratios, and its interval.

    ``cpu ratio`` is the median by processor time, or None if either side's is unknown.
    """
    pairs = list(zip(ours, theirs, strict=True))
    known = all(rate.cpu > 0 for pair in pairs for rate in pair)
    return {
        **median_columns("ratio", [a.wall / b.wall for a, b in pairs]),
        "pairs": len(pairs),
        "cpu ratio": median([a.cpu / b.cpu for a, b in pairs]) if known else None,
    }


def rate_of(calls: Sequence[Callable[[], int]], seconds: float) -> Rate:
    """Repeat each call on a separate thread until the time is over, and return the total count.

    Each call runs at least once, even if its thread starts late.
    """
    over = threading.Event()

    def work(call: Callable[[], int]) -> int:
        total = call()
        while not over.is_set():
            total += call()
        return total

    with ThreadPoolExecutor(len(calls)) as pool:
        begun, used = time.perf_counter(), time.process_time()
        counts = [pool.submit(work, call) for call in calls]
        try:
            wait(counts, seconds, FIRST_EXCEPTION)
        finally:  # also after Ctrl-C, because the pool waits for its threads
            over.set()
        total = sum(count.result() for count in counts)
        return Rate(total / (time.perf_counter() - begun), total / (time.process_time() - used))
