"""Recent rates."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Meter:
    """A mean rate over a window before now."""

    begun: float  #: when counting began; all times are in seconds
    window: float = 30.0
    _seen: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, now: float, count: int) -> None:
        if count:
            self._seen.append((now, count))

    def rate(self, now: float) -> float:
        """Return the rate per second; if nothing was counted in the window, since the last time."""
        while len(self._seen) > 1 and now - self._seen[0][0] > self.window:
            self._seen.popleft()
        if not self._seen:
            return 0.0
        seconds = min(max(self.window, now - self._seen[0][0]), now - self.begun)
        return sum(count for _, count in self._seen) / max(seconds, 1e-9)
