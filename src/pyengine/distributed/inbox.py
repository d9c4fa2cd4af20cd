"""The receiving side: packets become shards of the run's folder, each game once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType

from pyengine.data import ShardWriter
from pyengine.distributed.packet import Game, Packet, unpack
from pyengine.errors import DataError
from pyengine.train.loop.parts import Part
from pyengine.train.loop.state import Best


class Inbox:
    """Writes what actors deliver; the only writer of the run's data while it is open.

    A packet is checked as a whole before a game of it is taken. Its games get the next numbers of
    the folder, and are in the open shard then, which is closed as in self-play on one machine.

    Args:
        part: self-play; its run and folder.
        best: who plays.

    Raises:
        ConfigError, DataError: as of :class:`~pyengine.data.ShardWriter`.

    """

    def __init__(self, part: Part, best: Best) -> None:
        """Open the folders of all games."""
        self._taken: dict[str, int] = {}  # by sender the number of the last packet
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
        #: In the folder, those of open shards included.
        self.games = sum(writer.games for writer in self._writers)
        self.positions = sum(writer.positions for writer in self._writers)

    def taken(self, sender: str) -> int:
        """Return the number of the last packet that was taken from a sender; 0 before the first."""
        return self._taken.get(sender, 0)

    def take(self, sender: str, packets: Sequence[Packet]) -> tuple[int, int]:
        """Take packets in and return how many games and positions are new.

        One that was taken before counts for nothing; one that does not follow the last is left for
        the next time.

        Raises:
            DamagedPacketError: nothing of that packet is taken.
            DataError: a shard cannot be written: see :meth:`~pyengine.data.ShardWriter.add`.

        """
        before = self.games, self.positions
        for packet in packets:
            if packet.number == self.taken(sender) + 1:
                games = unpack(packet, self._writers[packet.game].layout)
                self._taken[sender] = packet.number
                self._write(packet.game, games)
        return self.games - before[0], self.positions - before[1]

    def _write(self, game: int, games: Sequence[Game]) -> None:
        """Number the games and write them; whatever fails, the writer has all of them."""
        failed: DataError | None = None
        for rows, line in games:
            number = self._next[game]
            mine = rows.copy()
            mine["game"] = number
            try:
                self._writers[game].add_records(mine, replace(line, number=number))
            except DataError as error:
                failed = error
            self._next[game] += 1
            self.games += 1
            self.positions += len(rows)
        if failed is not None:
            raise failed

    def played_on(self) -> tuple[tuple[float, ...], ...]:
        """Return for each game of the run what :meth:`ShardWriter.played_on` says."""
        return tuple(tuple(writer.played_on()) for writer in self._writers)

    def forget(self, sender: str) -> None:
        """Forget a sender that will send no more."""
        self._taken.pop(sender, None)

    def set_model(self, sha256: str) -> None:
        """Say which network plays from now on."""
        for writer in self._writers:
            writer.set_model(sha256)

    def tick(self) -> None:
        """Close the open shards that are due. Raises DataError."""
        for writer in self._writers:
            writer.tick()

    def __enter__(self) -> Inbox:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the shards and the folders."""
        self._stack.__exit__(kind, error, trace)
