"""The receiving side: writes each delivered game once to the shards of the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType

from pyengine.data import ShardWriter
from pyengine.distributed.packet import Game, Packet, unpack
from pyengine.errors import DataError
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best


class Inbox:
    """Writes delivered games; the only writer of the run's data while it is open.

    A packet is checked before any of its games is used. The games get the next numbers of the
    folder and go to the open shard.

    Args:
        part: the self-play part of the run.
        best: the network that plays.

    Raises:
        ConfigError, DataError: see :class:`~pyengine.data.ShardWriter`.

    """

    def __init__(self, part: Part, best: Best) -> None:
        self._taken: dict[str, int] = {}  # number of the last packet by sender
        self._writers: list[ShardWriter] = []
        with ExitStack() as stack:
            for number, name in enumerate(part.run.game.name):
                config = part.run.selfplay_config(number)
                writer = part.open_writer(
                    name, config.to_dict(), best.sha256, part.run.distributed.shard_positions
                )
                self._writers.append(stack.enter_context(writer))
            self._stack = stack.pop_all()
        self._next = [writer.next_number for writer in self._writers]
        #: In the folder, including open shards.
        self.games = sum(writer.games for writer in self._writers)
        self.positions = sum(writer.positions for writer in self._writers)

    def taken(self, sender: str) -> int:
        """Return the number of the last packet from a sender; 0 before the first."""
        return self._taken.get(sender, 0)

    def take(self, sender: str, packets: Sequence[Packet]) -> tuple[int, int]:
        """Write packets and return the numbers of new games and positions.

        A repeated packet and one that does not follow the last are ignored.

        Raises:
            DamagedPacketError: a packet is corrupt; none of its games is used.
            DataError: a shard cannot be written.

        """
        before = self.games, self.positions
        for packet in packets:
            if packet.number == self.taken(sender) + 1:
                games = unpack(packet, self._writers[packet.game].layout)
                self._taken[sender] = packet.number
                self._write(packet.game, games)
        return self.games - before[0], self.positions - before[1]

    def _write(self, game: int, games: Sequence[Game]) -> None:
        """Number the games and write them. On an error the writer still has all of them."""
        failed: DataError | None = None
        for rows, line in games:
            number = self._next[game]
            numbered = rows.copy()
            numbered["game"] = number
            try:
                self._writers[game].add_records(numbered, replace(line, number=number))
            except DataError as error:
                failed = error
            self._next[game] += 1
            self.games += 1
            self.positions += len(rows)
        if failed is not None:
            raise failed

    def played_on(self) -> tuple[tuple[float, ...], ...]:
        """Return :meth:`ShardWriter.played_on` for each game of the run."""
        return tuple(tuple(writer.played_on()) for writer in self._writers)

    def forget(self, sender: str) -> None:
        """Drop the state of a sender that has ended."""
        self._taken.pop(sender, None)

    def set_model(self, sha256: str) -> None:
        """Set the network that plays from now on."""
        for writer in self._writers:
            writer.set_model(sha256)

    def tick(self) -> None:
        """Close the open shards that are due. Raises DataError."""
        for writer in self._writers:
            writer.tick()

    def __enter__(self) -> Inbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)
