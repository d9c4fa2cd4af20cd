"""A directory of shards as a reader sees it, and the window over several."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.manifest import MANIFEST, Manifest, ShardInfo, games_name, read_games
from pyengine.data.manifest_reader import ManifestReader
from pyengine.data.record import GameLine, selected_rows
from pyengine.data.shards import check_sha256, check_size
from pyengine.errors import DataError

__all__ = ["Piece", "PieceKey", "Source", "newest"]

#: Number of a directory, file of a shard in it, games of it that are skipped.
PieceKey: TypeAlias = tuple[int, str, int]


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
    def key(self) -> PieceKey:
        """What tells it from all other pieces of its directories."""
        return self.source, self.shard.file, self.skipped

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

    Args:
        directory: of the shards.
        number: of the directory among others, for its pieces.
        before: the same directory at an earlier time; what that knows is not read again.

    Raises ConfigError where there is no manifest; DataError where it is damaged, or has other
    shards than before.

    """

    def __init__(self, directory: Path, number: int = 0, before: Source | None = None) -> None:
        """Read the manifest, or what is new of it."""
        self.directory, self.number = directory, number
        reader = ManifestReader(directory) if before is None else copy.copy(before._reader)
        self._reader: ManifestReader = reader
        manifest, known = reader.read()
        self.manifest: Manifest = manifest
        #: All shards, oldest first.
        self.pieces: list[Piece] = []
        self.positions = 0  #: of all shards
        if before is not None:
            if known == 0:  # written anew
                known = self._known(before)
            self.pieces += before.pieces
            self.positions = before.positions
        for shard in self.manifest.shards[known:]:
            self.pieces.append(Piece(number, directory / shard.file, shard))
            self.positions += shard.positions

    def newer(self) -> Source:
        """Return the directory as it is now. Raises DataError unless it has but more shards."""
        return Source(self.directory, self.number, self)

    def _known(self, before: Source) -> int:
        """Return how many shards there were. Raises DataError where others are there now."""
        known = before.manifest.shards
        if self.manifest.shards[: len(known)] != known:
            raise DataError(
                f"{self.directory / MANIFEST} must keep its {len(known)} shards, found others"
            )
        return len(known)


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
        chosen.append(replace(piece, skipped=skipped) if skipped else piece)
    return chosen[::-1]
