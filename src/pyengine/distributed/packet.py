"""Packets: finished games on the way from an actor to the driver."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import Layout, Rows
from pyengine.data.record import GameLine
from pyengine.errors import DataError

#: The records of a finished game, and its line in the list of games.
Game: TypeAlias = tuple[Rows, GameLine]


class DamagedPacketError(DataError):
    """A packet whose content is corrupt."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Packet:
    """Finished games of one kind: the records and the list of games, as in a shard."""

    number: int  #: from 1, consecutive for each sender
    game: int  #: number of the game in the run file
    records: npt.NDArray[np.uint8]  #: the concatenated records
    lines: bytes  #: the list of games, one line per game
    sha256: str  #: of records and lines

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return len(self.records) + len(self.lines)


def pack(number: int, game: int, games: Sequence[Game]) -> Packet:
    rows = np.concatenate([rows for rows, _ in games])
    records = np.frombuffer(rows.tobytes(), np.uint8)
    lines = "".join(line.to_json() for _, line in games).encode()
    sha256 = _sha256(records, lines)
    return Packet(number=number, game=game, records=records, lines=lines, sha256=sha256)


def unpack(packet: Packet, layout: Layout) -> list[Game]:
    """Return the games of a packet. Raises DamagedPacketError if it is corrupt."""
    actual = _sha256(packet.records, packet.lines)
    if actual != packet.sha256:
        raise DamagedPacketError(
            f"packet {packet.number} is damaged: expected SHA-256 {packet.sha256}, got {actual}"
        )
    lines = [GameLine.from_json(line) for line in packet.lines.decode().splitlines()]
    rows: Rows = np.frombuffer(bytes(packet.records), layout.dtype)
    ends = np.cumsum([line.positions for line in lines])
    return list(zip(np.split(rows, ends[:-1]), lines, strict=True))


def _sha256(records: npt.NDArray[np.uint8], lines: bytes) -> str:
    digest = hashlib.sha256(records.data)
    digest.update(lines)
    return digest.hexdigest()
