"""Directories of shards for a reader, and the rows in a window of the newest games."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import Rows
from pyengine.data.manifest import MANIFEST, ManifestReader, ShardInfo, games_name, read_games
from pyengine.data.record import GameLine
from pyengine.data.shards import ShardMaps, check_sha256, check_size
from pyengine.errors import ConfigError, DataError

#: The number of newest games in all directories, or in each.
Window: TypeAlias = int | Sequence[int | None] | None

_Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """A shard, or the part of it in the window."""

    source: int  #: number of its directory
    path: Path
    shard: ShardInfo = field(compare=False)
    skipped: int = 0  #: number of its oldest games outside the window

    @property
    def games(self) -> int:
        """Number of games in the piece."""
        return self.shard.games - self.skipped

    def verify(self) -> None:
        """Raise DataError unless the files have the SHA-256 in the manifest."""
        check_sha256(self.path.parent, self.shard)

    def selected(self, full_only: bool) -> _Numbers | None:
        """Return the selected records of the shard, ascending; None for all. Raises DataError."""
        partly = full_only and self.shard.full < self.shard.positions
        if self.skipped == 0 and not partly:
            return None
        games = self.lines()
        before = sum(game.positions for game in games[: self.skipped])
        if not full_only:
            return np.arange(before, self.shard.positions)
        full = "".join(game.full for game in games[self.skipped :]).encode()
        return before + np.flatnonzero(np.frombuffer(full, np.uint8) == ord("1"))

    def lines(self) -> list[GameLine]:
        """Return all games of the shard. Raises DataError."""
        listing = self.path.with_name(games_name(self.path.name))
        games = read_games(listing)
        positions = sum(game.positions for game in games)
        if (len(games), positions) != (self.shard.games, self.shard.positions):
            raise DataError(
                f"{listing} is damaged: expected {self.shard.games} games with "
                f"{self.shard.positions} positions, got {len(games)} with {positions}"
            )
        return games


class Source:
    """A directory of shards according to its manifest. Old shards may be missing.

    ``before`` is the same directory at an earlier time, whose lines are not read again. Raises
    ConfigError without a manifest, DataError if it is damaged or lost a shard.
    """

    def __init__(self, directory: Path, number: int = 0, before: Source | None = None) -> None:
        self.directory, self.number = directory, number
        self._reader: ManifestReader = ManifestReader(
            directory, None if before is None else before._reader
        )
        self.manifest, known = self._reader.manifest, self._reader.known
        old = [] if before is None else before.manifest.shards
        if known == 0:  # the manifest was rewritten
            known = len(old)
            if self.manifest.shards[:known] != old:
                raise DataError(f"{directory / MANIFEST} no longer has its first {known} shards")
        new = self.manifest.shards[known:]
        #: All shards, oldest first.
        self.pieces: list[Piece] = [] if before is None else before.pieces.copy()
        self.pieces += [Piece(number, directory / shard.file, shard) for shard in new]


def newest(pieces: Sequence[Piece], games: int | None) -> list[Piece]:
    """Return the pieces with the newest games; ``pieces`` are ordered by age, oldest first."""
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


class View:
    """An immutable snapshot of the rows of a dataset."""

    def __init__(
        self, sources: Sequence[Source], window: Window, full_only: bool, before: View | None
    ) -> None:
        """Choose the pieces and check their sizes, except those already in ``before``."""
        #: In the order of the rows; those of a directory are adjacent.
        self.pieces = _chosen(sources, window)
        known = {} if before is None else before.selected
        for piece in self.pieces:
            if piece not in known:
                check_size(piece.path.parent, piece.shard)
        #: Selected records; None for all.
        self.selected: dict[Piece, _Numbers | None] = {
            piece: known[piece] if piece in known else piece.selected(full_only)
            for piece in self.pieces
        }
        lengths = [
            piece.shard.positions if selected is None else len(selected)
            for piece, selected in self.selected.items()
        ]
        self._lengths = np.array(lengths, np.int64)
        self._ends = np.cumsum(self._lengths)
        self._directories = len(sources)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def games(self) -> int:
        """Number of games in all pieces."""
        return sum(piece.games for piece in self.pieces)

    def records(self, rows: _Numbers, maps: ShardMaps) -> Rows:
        """Return the records of rows in 0..len-1. Raises DataError."""
        records = np.empty(len(rows), maps.layout.dtype)
        for where, piece, at in self.located(rows):
            records[where] = maps.rows(piece.path, piece.shard.positions)[at]
        return records

    def located(self, rows: _Numbers) -> Iterator[tuple[_Numbers, Piece, _Numbers]]:
        """Yield, for each shard, the positions in ``rows``, the piece, and the record indices."""
        if len(rows) == 0:
            return
        pieces = np.searchsorted(self._ends, rows, side="right")
        order = np.argsort(pieces, kind="stable")
        present, begins = np.unique(pieces[order], return_index=True)
        for number, where in zip(present, np.split(order, begins[1:]), strict=True):
            piece = self.pieces[number]
            selected = self.selected[piece]
            at = rows[where] - (self._ends[number] - self._lengths[number])
            yield where, piece, at if selected is None else selected[at]

    def draw(
        self,
        size: int,
        rng: np.random.Generator,
        weights: Sequence[float] | None,
        chances: npt.NDArray[np.float64] | None = None,
    ) -> _Numbers:
        """Return random rows, drawn with replacement.

        ``weights`` are those of the directories, ``chances`` the cumulative weights of the rows.
        Raises ConfigError if there is nothing to draw from.
        """
        if len(self) == 0:
            raise ConfigError("the window has no positions to sample")
        begins, ends = np.array(0), np.array(len(self))  # of the rows to draw from
        if weights is not None:
            begins, ends = self._bounds()
            shares = np.where(ends > begins, weights, 0.0)
            if shares.sum() <= 0:
                raise ConfigError(f"no directory with positions has a weight above 0: {weights}")
            source = rng.choice(len(shares), size=size, p=shares / shares.sum())
            begins, ends = begins[source], ends[source]
        if chances is None:
            return rng.integers(begins, ends, size=size)
        at = chances[begins] + rng.random(size) * (chances[ends] - chances[begins])
        rows: _Numbers = np.searchsorted(chances, at, side="right") - 1
        return rows.clip(begins, ends - 1)

    def _bounds(self) -> tuple[_Numbers, _Numbers]:
        """Return the bounds of each directory: its first row, and one past its last."""
        of_piece = np.array([piece.source for piece in self.pieces], np.int64)
        counts = np.bincount(of_piece, self._lengths, self._directories).astype(np.int64)
        ends = np.cumsum(counts)
        return ends - counts, ends


def _chosen(sources: Sequence[Source], window: Window) -> list[Piece]:
    every = [source.pieces for source in sources]
    if isinstance(window, Sequence):
        limits = zip(every, window, strict=True)
        return [piece for pieces, limit in limits for piece in newest(pieces, limit)]
    if len(every) == 1:
        return newest(every[0], window)
    by_age = sorted(itertools.chain(*every), key=lambda piece: piece.shard.created)
    return sorted(newest(by_age, window), key=lambda piece: (piece.source, piece.path))
