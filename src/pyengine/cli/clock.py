"""A clock for two players."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError

_MOVES_AHEAD = 20  # the engine budgets its time for this many moves
_LEAST_SECONDS = 0.05  # per search
_MAX_SHARE = 0.9  # of the remaining time, per search


@dataclass
class Clock:
    """The remaining seconds of both players, and the increment per move."""

    left: tuple[float, float]  #: below 0 once the flag has fallen
    increment: float
    before: dict[int, tuple[float, float]] = field(init=False)  #: remaining seconds by ply

    def __post_init__(self) -> None:
        self.before = {0: self.left}

    @classmethod
    def parse(cls, text: str) -> Clock:
        """Parse ``"5"`` or ``"5+3"``: minutes per player, seconds per move."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?", text.strip())
        minutes = float(match[1]) if match else 0.0
        if match is None or not 0.0 < minutes <= 1e4:
            raise ConfigError(
                f"--clock: expected MINUTES or MINUTES+SECONDS, such as 5+3, got {short_repr(text)}"
            )
        return cls((60.0 * minutes, 60.0 * minutes), float(match[2] or 0.0))

    def spend(self, player: int, seconds: float) -> bool:
        """Subtract time from a player; return whether any is left."""
        self._add(player, -seconds)
        return self.left[player] >= 0.0

    def press(self, player: int, ply: int) -> None:
        """Add the increment and record the remaining time before the next ply."""
        self._add(player, self.increment)
        self.before[ply] = self.left

    def _add(self, player: int, seconds: float) -> None:
        first, second = self.left
        self.left = (first, second + seconds) if player else (first + seconds, second)

    def go_back(self, ply: int) -> None:
        """Restore the time before a ply, or the initial time if that is unknown."""
        self.left = self.before.get(ply, self.before[0])

    def reset(self) -> None:
        """Restore the initial time."""
        self.left = self.before[0]
        self.before = {0: self.left}

    def budget(self, player: int) -> float:
        """Return the seconds that the player's next search may take."""
        left = self.left[player]
        share = left / _MOVES_AHEAD + 0.8 * self.increment
        return max(_LEAST_SECONDS, min(share, _MAX_SHARE * left))

    def __str__(self) -> str:
        """Return both times, for example ``"4:58 - 5:00"``."""
        return " - ".join(f"{max(0, int(s)) // 60}:{max(0, int(s)) % 60:02}" for s in self.left)
