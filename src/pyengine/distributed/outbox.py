"""The sending side: what an actor has played and nobody has taken yet, in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pyengine.data import FinishedGame, Layout
from pyengine.data.writer import MOST_POSITIONS
from pyengine.distributed.packet import Game, Packet, pack

_REPLY_BYTES = 16 << 20  # of the packets that go out at once, but for one that is larger


class Outbox:
    """Packets in the order of their numbers. They stay until the receiver says that it has them.

    Args:
        seconds: that an ended game waits for others of its packet.
        most_bytes: with more the outbox is full.
        positions: a packet that has so many does not wait.

    """

    def __init__(self, seconds: float, most_bytes: float, positions: int = MOST_POSITIONS) -> None:
        self.limits = (seconds, positions)
        self._most_bytes = most_bytes
        self._packets: list[Packet] = []
        self._last = 0  # number of the last packet
        self._changed = threading.Condition()
        self._closed = False

    def sink(self, game: int, layout: Layout, played_on: Sequence[float] = ()) -> OutboxSink:
        """Return where the finished games of a game of the run go.

        ``played_on``: what the receiver knows of earlier ones.
        """
        return OutboxSink(self, game, layout, played_on)

    @property
    def full(self) -> bool:
        """Whether nothing more should be played until some of it is taken."""
        with self._changed:
            return self._bytes() > self._most_bytes

    @property
    def bytes(self) -> int:
        """Of all packets."""
        with self._changed:
            return self._bytes()

    def put(self, game: int, games: list[Game]) -> None:
        """Add a packet."""
        with self._changed:
            self._packets.append(pack(self._last + 1, game, games))
            self._last += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Say that nothing more will come, so that nobody waits for it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, acknowledged: int, wait: float) -> list[Packet]:
        """Forget the packets up to a number; return the next ones, waiting for some."""
        with self._changed:
            self._packets = [each for each in self._packets if each.number > acknowledged]
            self._changed.wait_for(lambda: self._packets or self._closed, wait)
            taken: list[Packet] = []
            size = 0
            for packet in self._packets:
                size += packet.bytes
                if taken and size > _REPLY_BYTES:
                    break
                taken.append(packet)
            return taken

    def _bytes(self) -> int:
        return sum(packet.bytes for packet in self._packets)


class OutboxSink:
    """Takes the finished games of one game; a :class:`~pyengine.data.GameSink`.

    Numbers of games are the receiver's: here they begin at 0.
    """

    def __init__(
        self, outbox: Outbox, game: int, layout: Layout, played_on: Sequence[float] = ()
    ) -> None:
        self.games = 0
        self.positions = 0
        self.next_number = 0
        self._outbox, self._game, self._layout = outbox, game, layout
        self._played_on = list(played_on)
        self._open: list[Game] = []
        self._waiting = 0  # positions in the open packet
        self._begun = 0.0

    def played_on(self) -> list[float]:
        """Return what the receiver knew of earlier games when the actor began."""
        return self._played_on

    def add(self, game: FinishedGame) -> None:
        """Take a game in. Raises ConfigError when a column does not fit."""
        rows, line = game.records(self._layout), game.line()
        if not self._open:
            self._begun = time.monotonic()
        self._open.append((rows, line))
        self._waiting += len(rows)
        self.games += 1
        self.positions += len(rows)
        self.next_number = max(self.next_number, line.number + 1)
        self.tick()

    def tick(self) -> None:
        """Close the open packet if it is due."""
        seconds, positions = self._outbox.limits
        if self._waiting >= positions or time.monotonic() - self._begun >= seconds:
            self.flush()

    def flush(self) -> None:
        """Close the open packet, if it has a game."""
        if self._open:
            self._outbox.put(self._game, self._open)
            self._open, self._waiting = [], 0

    def set_model(self, sha256: str) -> None:
        """Nothing: the receiver knows who plays."""

    def __enter__(self) -> OutboxSink:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        """Close the open packet."""
        self.flush()
