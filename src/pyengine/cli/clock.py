"""A clock for two players."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyengine.base.arguments import short_repr
from pyengine.errors import ConfigError

_MOVES_AHEAD = 20  # among which the engine divides its time
_LEAST = 0.05  # seconds of a search
_RESERVE = 0.9  # of the time left, which a search may take


@dataclass
class Clock:
    """Seconds that each player has left, and what a move adds.

    Attributes:
        left: seconds of the first and the second player; below 0 the flag has fallen.
        increment: seconds that a move adds.
    """

    left: tuple[float, float]
    increment: float
    before: dict[int, tuple[float, float]] = field(init=False)  #: what was left before a ply

    def __post_init__(self) -> None:
        """Remember the start."""
        self.before = {0: self.left}

    @classmethod
    def parse(cls, text: str) -> Clock:
        """Read ``"5"`` or ``"5+3"``: minutes a player, and seconds a move."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?", text.strip())
        minutes = float(match[1]) if match else 0.0
        if match is None or not 0.0 < minutes <= 1e4:
            raise ConfigError(
                f"--clock: expected MINUTES or MINUTES+SECONDS, such as 5+3, got {short_repr(text)}"
            )
        return cls((60.0 * minutes, 60.0 * minutes), float(match[2] or 0.0))

    def spend(self, player: int, seconds: float) -> bool:
        """Take time from a player; return whether some is left."""
        self._add(player, -seconds)
        return self.left[player] >= 0.0

    def press(self, player: int, ply: int) -> None:
        """Add the increment of a move, and remember what is left before the next ply."""
        self._add(player, self.increment)
        self.before[ply] = self.left

    def _add(self, player: int, seconds: float) -> None:
        first, second = self.left
        self.left = (first, second + seconds) if player else (first + seconds, second)

    def go_back(self, ply: int) -> None:
        """Show what was left before a ply; at the start if it is unknown."""
        self.left = self.before.get(ply, self.before[0])

    def reset(self) -> None:
        """Start again."""
        self.left = self.before[0]
        self.before = {0: self.left}

    def budget(self, player: int) -> float:
        """Return the seconds that a search of the player's may take."""
        left = self.left[player]
        share = left / _MOVES_AHEAD + 0.8 * self.increment
        return max(_LEAST, min(share, _RESERVE * left))

    def __str__(self) -> str:
        """Return both times, as in ``"4:58 - 5:00"``."""
        return " - ".join(f"{max(0, int(s)) // 60}:{max(0, int(s)) % 60:02}" for s in self.left)
