"""Measurements in turns, and what their pairs say."""

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
else:  # run as a file
    from intervals import median, median_columns


class Rate(NamedTuple):
    """What is counted a second.

    Attributes:
        wall: a second of the clock.
        cpu: a second of processor time, all threads together: other programs disturb it less.
            0 = not known.
    """

    wall: float
    cpu: float


class Pace(NamedTuple):
    """How often is measured.

    Attributes:
        seconds: after them no further measurement begins, once there are enough.
        least, most: measurements. Six are the fewest whose median has an interval of 95 %.
    """

    seconds: float
    least: int = 6
    most: int = 100

    def goes_on(self, done: int, seconds: float) -> bool:
        """Return whether to measure once more after so many."""
        return done < self.least or (done < self.most and seconds < self.seconds)


def pace(options: Options, seconds: float = 0.0, least: int = 6, most: int = 100) -> Pace:
    """Return the pace that is asked for; once in a quick run."""
    return Pace(0.0, 1, 1) if options.quick else Pace(seconds, least, most)


def in_turns(pace: Pace, *sides: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """Measure the sides in turns: A B, B A, A B, ... so that none gains by its place.

    Returns:
        The rounds: what each side returned, in the order of the sides. Their number is even: each
        side is as often first.
    """
    rounds: list[tuple[Any, ...]] = []
    begun = time.perf_counter()
    while len(rounds) % 2 or pace.goes_on(len(rounds), time.perf_counter() - begun):
        backwards = len(rounds) % 2 == 1
        taken = [side() for side in (sides[::-1] if backwards else sides)]
        rounds.append(tuple(taken[::-1] if backwards else taken))
    return rounds


def samples(pace: Pace, call: Callable[[], Any]) -> list[Any]:
    """Return what a call returns, as often as the pace says."""
    taken: list[Any] = []
    begun = time.perf_counter()
    while pace.goes_on(len(taken), time.perf_counter() - begun):
        taken.append(call())
    return taken


def ratios(ours: Sequence[Rate], theirs: Sequence[Rate]) -> dict[str, Any]:
    """Return the cells of a row: the median of the paired ratios by the clock, and its interval.

    ``cpu ratio`` is the median by processor time, None where that is not known of both.
    """
    pairs = list(zip(ours, theirs, strict=True))
    known = all(rate.cpu > 0 for pair in pairs for rate in pair)
    return {
        **median_columns("ratio", [a.wall / b.wall for a, b in pairs]),
        "pairs": len(pairs),
        "cpu ratio": median([a.cpu / b.cpu for a, b in pairs]) if known else None,
    }


def rate_of(calls: Sequence[Callable[[], int]], seconds: float) -> Rate:
    """Make each call again and again on a thread of its own; return what they count together.

    Each is made once at least, however late its thread begins.
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
        finally:  # also after Ctrl-C: the pool waits for its threads
            over.set()
        total = sum(count.result() for count in counts)
        return Rate(total / (time.perf_counter() - begun), total / (time.process_time() - used))
