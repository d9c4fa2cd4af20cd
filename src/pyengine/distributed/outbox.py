"""The sending side: games of an actor that the driver has not acknowledged, in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Self

from pyengine.data import FinishedGame, Layout
from pyengine.data.writer import MOST_POSITIONS
from pyengine.distributed.packet import Game, Packet, pack

_REPLY_BYTES = 16 << 20  # of the packets of a reply, unless a single one is larger


class Outbox:
    """Numbered packets that stay until the receiver acknowledges them.

    Args:
        seconds: longest time that a finished game waits for its packet to fill.
        most_bytes: size above which the outbox is full.
        positions: size at which a packet is full.

    """

    def __init__(self, seconds: float, most_bytes: float, positions: int = MOST_POSITIONS) -> None:
        self.seconds, self.positions = seconds, positions
        self._most_bytes = most_bytes
        self._packets: list[Packet] = []
        self._last = 0  # number of the last packet
        self._changed = threading.Condition()
        self._closed = False

    @property
    def bytes(self) -> int:
        """Size of all packets."""
        with self._changed:
            return sum(packet.bytes for packet in self._packets)

    @property
    def full(self) -> bool:
        """Whether self-play should pause until packets are acknowledged."""
        return self.bytes > self._most_bytes

    def put(self, game: int, games: list[Game]) -> None:
        """Add a packet of games."""
        with self._changed:
            self._last += 1
            self._packets.append(pack(self._last, game, games))
            self._changed.notify_all()

    def close(self) -> None:
        """Announce that no more packets follow."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, acknowledged: int, wait: float) -> list[Packet]:
        """Drop acknowledged packets and return the next ones, waiting up to ``wait`` seconds."""
        with self._changed:
            self._packets = [p for p in self._packets if p.number > acknowledged]
            self._changed.wait_for(lambda: self._packets or self._closed, wait)
            size = 0
            for count, packet in enumerate(self._packets):
                size += packet.bytes
                if count > 0 and size > _REPLY_BYTES:
                    return self._packets[:count]
            return self._packets.copy()


class OutboxSink:
    """Collects finished games of one kind into packets; a :class:`~pyengine.data.GameSink`.

    Game numbers start at 0 here; the receiver renumbers the games.

    Args:
        outbox: receives the packets.
        game: number of the game in the run file.
        layout: of the records.
        played_on: values of earlier games that the receiver knows.

    """

    def __init__(
        self, outbox: Outbox, game: int, layout: Layout, played_on: Sequence[float] = ()
    ) -> None:
        self.games = self.positions = self.next_number = 0
        self._outbox, self._game, self._layout = outbox, game, layout
        self._played_on = list(played_on)
        self._open: list[Game] = []
        self._waiting = 0  # positions in the open packet
        self._begun = 0.0

    def played_on(self) -> list[float]:
        """Return the values of earlier games that the receiver knew at the start."""
        return self._played_on

    def add(self, game: FinishedGame) -> None:
        """Add a game. Raises ConfigError if a column does not match."""
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
        full = self._waiting >= self._outbox.positions
        if full or time.monotonic() - self._begun >= self._outbox.seconds:
            self.flush()

    def flush(self) -> None:
        """Close the open packet if it has a game."""
        if self._open:
            self._outbox.put(self._game, self._open)
            self._open, self._waiting = [], 0

    def set_model(self, sha256: str) -> None:
        """Do nothing: the receiver knows the network."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()
