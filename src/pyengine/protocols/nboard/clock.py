"""The clocks of an Othello game, as GGF gives them."""

from __future__ import annotations

import re

from pyengine.protocols.session import Session
from pyengine.search.clock import Clock

_TIME = re.compile(r"TI\s*\[([^\]]*)\]")
_MOVE = re.compile(r"(?<![A-Z])([BW])\s*\[([^\]]*)\]")
_UNITS = (1, 60, 3600)  # seconds
_MOST_SECONDS = 1e6


class GgfClocks:
    """The time that each player has used and has left.

    A game's ``TI[main/increment/...]`` and the third part of its moves, ``F5/eval/seconds``.
    """

    def __init__(self, ggf: str = "") -> None:
        given = _TIME.search(ggf)
        main, _, rest = (given[1] if given else "").partition("/")
        self._main = min(_seconds(main) or 0.0, _MOST_SECONDS)
        self._increment = min(_seconds(rest.partition("/")[0]) or 0.0, _MOST_SECONDS)
        self._used = [0.0, 0.0]
        for player, move in _MOVE.findall(ggf):
            self.note_move("BW".index(player), move)

    def note_move(self, player: int, move: str) -> None:
        """Count the time of a move such as ``F5/-1.50/2.1``."""
        parts = move.split("/")
        if len(parts) > 2:
            self._used[player] += (_seconds(parts[2]) or 0.0) - self._increment
        else:
            self._used[player] -= self._increment

    def set(self, session: Session) -> None:
        """Set the session's clocks; None if the game has no time limit."""
        for player in (0, 1):
            if not self._main:
                session.clocks[player] = None
                continue
            clock = session.clocks[player]
            if clock is None or clock.increment != self._increment:
                clock = session.clocks[player] = Clock(self._main, increment=self._increment)
            clock.set(self._main - self._used[player])


def _seconds(text: str) -> float | None:
    """Return the seconds of ``SECONDS``, ``M:SS`` or ``H:MM:SS``; None if it is damaged."""
    parts = text.strip().split(":")
    if not all(re.fullmatch(r"\d{1,6}(\.\d*)?", part) for part in parts) or len(parts) > len(
        _UNITS
    ):
        return None
    return sum(float(part) * unit for part, unit in zip(reversed(parts), _UNITS, strict=False))
