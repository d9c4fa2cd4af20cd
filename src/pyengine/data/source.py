"""A directory of shards as a reader sees it, and the window over several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyengine.data.manifest import MANIFEST, Manifest, ShardInfo, games_name, read_games
from pyengine.data.record import GameLine, selected_rows
from pyengine.data.shards import check_sha256, check_size
from pyengine.errors import DataError

__all__ = ["Piece", "Source", "newest"]


@dataclass(frozen=True)
class Piece:
    """A shard, or what the window leaves of it.

    Attributes:
        source: number of its directory.
        path: of the shard.
        shard: what the manifest says of it.
        skipped: its oldest games, which are not in the window.
    """

    source: int
    path: Path
    shard: ShardInfo
    skipped: int = 0

    @property
    def games(self) -> int:
        """Games of the piece."""
        return self.shard.games - self.skipped

    def check(self, record: int) -> None:
        """Raise DataError unless the file has the manifest's size, for records of so many bytes."""
        check_size(self.path.parent, self.shard)
        if self.shard.bytes < self.shard.positions * record:
            raise DataError(
                f"{self.path} is damaged: expected {self.shard.positions} records of {record} "
                f"bytes, found {self.shard.bytes} bytes"
            )

    def verify(self) -> None:
        """Raise DataError unless the files have the manifest's SHA-256."""
        check_sha256(self.path.parent, self.shard)

    def selected(self, full_only: bool) -> npt.NDArray[np.int64] | None:
        """Return which records of the shard count, ascending; None = all. Raises DataError."""
        partly = full_only and self.shard.full < self.shard.positions
        if self.skipped == 0 and not partly:
            return None
        games = self.lines()
        before = sum(game.positions for game in games[: self.skipped])
        return before + selected_rows(games[self.skipped :], full_only)

    def lines(self) -> list[GameLine]:
        """Return the games of the whole shard. Raises DataError."""
        listing = self.path.with_name(games_name(self.path.name))
        games = read_games(listing)
        positions = sum(game.positions for game in games)
        if (len(games), positions) != (self.shard.games, self.shard.positions):
            raise DataError(
                f"{listing} is damaged: expected {self.shard.games} games with "
                f"{self.shard.positions} positions, found {len(games)} with {positions}"
            )
        return games


class Source:
    """A directory of shards, as its manifest tells. Old shards themselves may be gone.

    Raises ConfigError where there is no manifest, DataError where it is damaged.
    """

    def __init__(self, directory: Path) -> None:
        """Read the manifest."""
        self.directory = directory
        self.manifest = Manifest.read(directory)

    def pieces(self, number: int) -> list[Piece]:
        """Return all shards, oldest first; ``number`` is that of the directory."""
        return [Piece(number, self.directory / s.file, s) for s in self.manifest.shards]

    @property
    def positions(self) -> int:
        """Positions of all shards."""
        return sum(shard.positions for shard in self.manifest.shards)

    def newer(self) -> Source:
        """Return the directory as it is now. Raises DataError unless it has but more shards."""
        now = Source(self.directory)
        known = len(self.manifest.shards)
        if now.manifest.shards[:known] != self.manifest.shards:
            raise DataError(
                f"{self.directory / MANIFEST} must keep its {known} shards, found others"
            )
        return now


def newest(pieces: Sequence[Piece], games: int | None) -> list[Piece]:
    """Return what holds the newest games of pieces in the order of their age, oldest first."""
    if games is None:
        return list(pieces)
    chosen: list[Piece] = []
    for piece in reversed(pieces):
        if games <= 0:
            break
        skipped = max(0, piece.games - games)
        games -= piece.games
        chosen.append(replace(piece, skipped=skipped))
    return chosen[::-1]
