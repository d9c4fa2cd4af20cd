"""The rows that a window lets through, numbered: what a dataset is at a moment."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import Layout, Rows
from pyengine.data.shards import ShardMaps
from pyengine.data.source import Piece, PieceKey, Source, newest
from pyengine.errors import ConfigError

__all__ = ["View", "Window"]

#: The newest so many games of all directories, or of each.
Window = int | Sequence[int | None] | None

_Numbers: TypeAlias = npt.NDArray[np.int64]

#: Which records of a piece count, ascending; None = all.
_Selected = npt.NDArray[np.int64] | None


class View:
    """Pieces of shards, those of a directory side by side. It does not change.

    Attributes:
        pieces: in the order of the rows.
        selected: by the key of a piece which records of it count; None = all.
    """

    def __init__(
        self, sources: Sequence[Source], window: Window, full_only: bool, before: View | None
    ) -> None:
        """Choose the pieces and check their sizes; what ``before`` knows is not read again."""
        self.pieces = _chosen(sources, window)
        known: Mapping[PieceKey, _Selected] = {} if before is None else before.selected
        for piece in self.pieces:
            if piece.key not in known:
                piece.check(sources[piece.source].manifest.layout.dtype.itemsize)
        self.selected: dict[PieceKey, _Selected] = {
            piece.key: known[piece.key] if piece.key in known else piece.selected(full_only)
            for piece in self.pieces
        }
        self._lengths = np.array([self._length(piece) for piece in self.pieces], np.int64)
        self._ends = np.cumsum(self._lengths)
        self._directories = len(sources)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def games(self) -> int:
        """Games of all pieces."""
        return sum(piece.games for piece in self.pieces)

    def records(self, rows: npt.NDArray[np.int64], layout: Layout, maps: ShardMaps) -> Rows:
        """Return the records of some rows, each in 0..len-1. Raises DataError."""
        records = np.empty(len(rows), layout.dtype)
        for where, piece, at in self.located(rows):
            records[where] = maps.rows(piece.path, layout, piece.shard.positions)[at]
        return records

    def located(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[_Numbers, Piece, _Numbers]]:
        """Yield for each shard which of the rows it has, and at which of its records."""
        if len(rows) == 0:
            return
        pieces = np.searchsorted(self._ends, rows, side="right")
        order = np.argsort(pieces, kind="stable")
        present, begins = np.unique(pieces[order], return_index=True)
        for number, where in zip(present, np.split(order, begins[1:]), strict=True):
            piece = self.pieces[number]
            selected = self.selected[piece.key]
            at = rows[where] - (self._ends[number] - self._lengths[number])
            yield where, piece, at if selected is None else selected[at]

    def draw(
        self,
        size: int,
        rng: np.random.Generator,
        weights: Sequence[float] | None,
        chances: npt.NDArray[np.float64] | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return random rows with replacement.

        Args:
            size: how many.
            rng: the only source of randomness.
            weights: of the directories.
            chances: of the rows of a directory, as sums up to each row; None = all equal.

        Raises ConfigError when there are none.
        """
        if len(self) == 0:
            raise ConfigError("expected positions to sample, found none in the window")
        if weights is None:
            if chances is not None:
                return _drawn(rng.random(size), chances, np.array(0), np.array(len(self)))
            return rng.integers(len(self), size=size)
        begins, ends = self._bounds()
        shares = np.where(ends > begins, weights, 0.0)
        if shares.sum() <= 0:
            raise ConfigError(f"expected positions where the weights {weights} are, found none")
        source = rng.choice(len(shares), size=size, p=shares / shares.sum())
        if chances is not None:
            return _drawn(rng.random(size), chances, begins[source], ends[source])
        return rng.integers(begins[source], ends[source])

    def _length(self, piece: Piece) -> int:
        selected = self.selected[piece.key]
        return piece.shard.positions if selected is None else len(selected)

    def _bounds(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """First row of each directory, and the one after its last."""
        of_piece = np.array([piece.source for piece in self.pieces], np.int64)
        counts = np.bincount(of_piece, self._lengths, self._directories).astype(np.int64)
        ends = np.cumsum(counts)
        return ends - counts, ends


def _drawn(
    uniform: npt.NDArray[np.float64],
    chances: npt.NDArray[np.float64],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return rows in begins..ends-1, whose chances are the steps between sums."""
    at = chances[begins] + uniform * (chances[ends] - chances[begins])
    return np.clip(np.searchsorted(chances, at, side="right") - 1, begins, ends - 1)


def _chosen(sources: Sequence[Source], window: Window) -> list[Piece]:
    every = [source.pieces for source in sources]
    if isinstance(window, Sequence):
        limits = zip(every, window, strict=True)
        return [piece for pieces, limit in limits for piece in newest(pieces, limit)]
    if len(every) == 1:
        return newest(every[0], window)
    by_age = sorted(itertools.chain(*every), key=lambda piece: piece.shard.created)
    return sorted(newest(by_age, window), key=lambda piece: (piece.source, piece.path))
