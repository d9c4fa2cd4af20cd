"""Who is replaced when, and how many actors there is room for: rules without a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

_BACKOFF = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # seconds before the next actor
_ROUNDING = 1e-6  # of sums of parts of a GPU
_METER_SECONDS = 30.0  # over which a rate is the mean


@dataclass
class Seat:
    """The history of an actor and those that took its place.

    Attributes:
        name: of the place.
        deaths: all of them.
        failures: those since the last delivery.
        not_before: when the next actor may begin, by the clock of who calls.
        words: what is known of the last death.
    """

    name: str
    deaths: int = 0
    failures: int = 0
    not_before: float = 0.0
    words: str = ""

    def died(self, now: float, words: str) -> None:
        """Take note of a death. One after a delivery is made up for at once, others later."""
        self.not_before = now + _BACKOFF[min(self.failures, len(_BACKOFF) - 1)]
        self.deaths += 1
        self.failures += 1
        self.words = words

    def delivered(self) -> None:
        """Take note of a delivery: what went wrong before is over."""
        self.failures = 0

    def failing(self, restarts: int) -> bool:
        """Whether actors die here again and again before they deliver anything."""
        return self.failures > restarts


@dataclass
class Meter:
    """A rate: the mean of the last half minute."""

    begun: float
    _seen: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, now: float, count: int) -> None:
        """Take note of so many."""
        self._seen.append((now, count))

    def rate(self, now: float) -> float:
        """Return how many a second."""
        while self._seen and now - self._seen[0][0] > _METER_SECONDS:
            self._seen.popleft()
        seconds = min(_METER_SECONDS, now - self.begun)
        return sum(count for _, count in self._seen) / max(seconds, 1e-9)


def room(
    nodes: Mapping[str, Mapping[str, float]],
    need: Mapping[str, float],
    reserved: Mapping[str, Mapping[str, float]],
) -> int:
    """Return how many actors the nodes can hold together.

    Args:
        nodes: by node, how much of each resource it has.
        need: of an actor, by resource; something above 0.
        reserved: by node, what others of this run need there.

    """
    count = 0
    for node, has in nodes.items():
        taken = reserved.get(node, {})
        free = [
            (has.get(name, 0.0) - taken.get(name, 0.0)) / amount
            for name, amount in need.items()
            if amount > 0
        ]
        count += max(0, int(min(free) + _ROUNDING)) if free else 0
    return count
