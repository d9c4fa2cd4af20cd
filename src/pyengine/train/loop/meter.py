"""Recent rates."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Meter:
    """A mean rate over the last seconds."""

    begun: float  #: when counting began; all times are in seconds
    window: float = 30.0
    _seen: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, now: float, count: int) -> None:
        self._seen.append((now, count))

    def rate(self, now: float) -> float:
        """Return the rate per second."""
        while self._seen and now - self._seen[0][0] > self.window:
            self._seen.popleft()
        seconds = min(self.window, now - self.begun)
        return sum(count for _, count in self._seen) / max(seconds, 1e-9)
