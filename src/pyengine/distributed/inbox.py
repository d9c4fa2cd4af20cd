"""The receiving side: writes each delivered game once to the shards of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from pyengine.data import ShardWriter
from pyengine.distributed.packet import Game, Packet, unpack
from pyengine.errors import DataError
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best


class Inbox:
    """Writes delivered games; the only writer of the run's data.

    A packet is checked before any of its games is used. The games get the next numbers of the
    folder and go to the open shard of their game's writer.
    """

    def __init__(self, writers: Sequence[ShardWriter]) -> None:
        self._writers = writers
        self._last_packets: dict[str, int] = {}  # number of the last packet by sender

    @property
    def games(self) -> int:
        """Number of games in the folder, including open shards."""
        return sum(writer.games for writer in self._writers)

    @property
    def positions(self) -> int:
        """Number of positions in the folder, including open shards."""
        return sum(writer.positions for writer in self._writers)

    def last_packet(self, sender: str) -> int:
        """Return the number of the last packet from a sender; 0 before the first."""
        return self._last_packets.get(sender, 0)

    def take(self, sender: str, packets: Sequence[Packet]) -> tuple[int, int]:
        """Write packets and return the numbers of new games and positions.

        A repeated packet and one that does not follow the last are ignored.

        Raises:
            DamagedPacketError: a packet is corrupt; none of its games is used.
            DataError: a shard cannot be written.

        """
        before = self.games, self.positions
        for packet in packets:
            if packet.number == self.last_packet(sender) + 1:
                writer = self._writers[packet.game]
                games = unpack(packet, writer.layout)
                self._last_packets[sender] = packet.number
                _write(writer, games)
        return self.games - before[0], self.positions - before[1]

    def played_on(self) -> tuple[tuple[float, ...], ...]:
        """Return :meth:`ShardWriter.played_on` for each game of the run."""
        return tuple(tuple(writer.played_on()) for writer in self._writers)

    def forget(self, sender: str) -> None:
        """Drop the state of a sender that has ended."""
        self._last_packets.pop(sender, None)

    def set_model(self, sha256: str) -> None:
        """Set the network that plays from now on."""
        for writer in self._writers:
            writer.set_model(sha256)

    def tick(self) -> None:
        """Close the open shards that are due. Raises DataError."""
        for writer in self._writers:
            writer.tick()


def _write(writer: ShardWriter, games: Sequence[Game]) -> None:
    """Number the games and write them. On an error the writer still has all of them."""
    failed: DataError | None = None
    for number, (rows, line) in enumerate(games, writer.next_number):
        numbered = rows.copy()
        numbered["game"] = number
        try:
            writer.add_records(numbered, replace(line, number=number))
        except DataError as error:
            failed = error
    if failed is not None:
        raise failed


@contextmanager
def open_inbox(part: Part, best: Best) -> Iterator[Inbox]:
    """Open the inbox of a run; at the end of the block the open shards are written.

    Args:
        part: the self-play part of the run.
        best: the network that plays.

    Raises:
        ConfigError, DataError: see :class:`~pyengine.data.ShardWriter`.

    """
    positions = part.run.distributed.shard_positions
    with ExitStack() as stack:
        yield Inbox(
            [
                stack.enter_context(part.open_writer(number, best.sha256, positions))
                for number in range(len(part.run.game.name))
            ]
        )
