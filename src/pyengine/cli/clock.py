"""A clock for two players."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Clock"]

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

    left: list[float]
    increment: float
    start: tuple[float, float] = field(init=False)
    before: dict[int, tuple[float, float]] = field(default_factory=dict, init=False)  #: of plies

    def __post_init__(self) -> None:
        """Keep the beginning, for a new game."""
        self.start = (self.left[0], self.left[1])

    @classmethod
    def parse(cls, text: str) -> Clock:
        """Read ``"5"`` or ``"5+3"``: minutes a player, and seconds a move. Raises ValueError."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?", text.strip())
        minutes = float(match[1]) if match else 0.0
        if match is None or not 0.0 < minutes <= 1e4:
            raise ValueError(f"expected MINUTES or MINUTES+SECONDS, such as 5+3, found {text!r}")
        return cls([60.0 * minutes] * 2, float(match[2] or 0.0))

    def spend(self, player: int, seconds: float) -> bool:
        """Take time from a player; return whether some is left."""
        self.left[player] -= seconds
        return self.left[player] >= 0.0

    def press(self, player: int) -> None:
        """Add the increment of a move."""
        self.left[player] += self.increment

    def keep(self, ply: int) -> None:
        """Remember what is left before a ply."""
        self.before[ply] = (self.left[0], self.left[1])

    def go_back(self, ply: int) -> None:
        """Show what was left before a ply."""
        self.left[:] = self.before.get(ply, self.start)

    def budget(self, player: int) -> float:
        """Return the seconds that a search of the player's may take."""
        share = self.left[player] / _MOVES_AHEAD + 0.8 * self.increment
        return max(_LEAST, min(share, _RESERVE * self.left[player]))

    def reset(self) -> None:
        """Begin anew."""
        self.left[:] = self.start
        self.before.clear()

    def __str__(self) -> str:
        """Return both times, as in ``"4:58 - 5:00"``."""
        return " - ".join(f"{max(0, int(s)) // 60}:{max(0, int(s)) % 60:02}" for s in self.left)
