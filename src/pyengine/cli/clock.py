"""The clocks of both players, and clocks as text."""

from __future__ import annotations

import copy
import re
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError
from pyengine.search.clock import Clock

CLOCK_HELP = (
    "Time of each player: minutes, or seconds with an s. 5+3 adds 3 seconds per move, 10+3x30 is "
    "followed by 3 byo-yomi periods of 30 seconds, 10+25/600 by periods of 600 seconds for 25 "
    "moves."
)
_SHORT_HELP = "expected a time such as 5 or 5+3 (minutes+seconds), 90s+1, 10+3x30 or 10+25/600"
_NUMBER = r"(\d+(?:\.\d+)?)"
_TIME = re.compile(rf"{_NUMBER}(s)?(?:\+(?:(\d+)(x|/))?{_NUMBER}s?)?")


def clock_from(text: str) -> Clock:
    """Return the clock of ``--clock``, in the notation of :data:`CLOCK_HELP`."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"--clock: {_SHORT_HELP}, got {short_repr(text)}")
    main, is_seconds, count, kind, more = match.groups()
    extra: dict[str, Any] = {"increment": float(more or 0)}
    if kind is not None:
        of = "periods" if kind == "x" else "period_moves"
        extra = {of: int(count), "period_seconds": float(more)}
    try:
        return Clock(float(main) * (1 if is_seconds else 60), **extra)
    except ConfigError as error:
        raise ConfigError(f"--clock {text}: {error}") from error


class Clocks:
    """The clocks of both players, with their times at each ply for undo."""

    def __init__(self, clock: Clock) -> None:
        self._initial = clock
        self.reset()

    def reset(self) -> None:
        """Restore the initial time."""
        self._players = (copy.copy(self._initial), copy.copy(self._initial))
        self._at_ply = {0: self._copies()}

    def __getitem__(self, player: int) -> Clock:
        """Return the running clock of a player, 0 or 1."""
        return self._players[player]

    def press(self, player: int, ply: int) -> None:
        """End a player's move, and record the times before the next ply."""
        self[player].press()
        self._at_ply[ply] = self._copies()

    def go_back(self, ply: int) -> None:
        """Restore the time before a ply, or the initial time if that is unknown."""
        self._players = self._at_ply.get(ply, self._at_ply[0])
        self._at_ply[ply] = self._copies()

    def _copies(self) -> tuple[Clock, Clock]:
        first, second = self._players
        return copy.copy(first), copy.copy(second)

    def __str__(self) -> str:
        """Return both times, for example ``4:58 - 5:00``."""
        return " - ".join(map(str, self._players))
