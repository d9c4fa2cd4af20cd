"""Targets from what came later in a game: the opponent's reply, and the values of some plies on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import VALUE_ALONE, Layout, Rows
from pyengine.data.shards import ShardMaps
from pyengine.data.view import View

__all__ = ["LaterTargets", "replies", "short_values"]


def replies(rows: Rows) -> npt.NDArray[np.intp]:
    """Return for each record of whole games the number of the one that is the opponent's reply.

    That is the next record of the game, where the other player moved one ply later and its visits
    are not those of a position that teaches the value alone; its search may have been a fast one.
    -1 where there is none.
    """
    numbers = np.full(len(rows), -1, np.intp)
    before, after = rows[:-1], rows[1:]
    follows = (
        (after["game"] == before["game"])
        & (after["ply"] == before["ply"].astype(np.int64) + 1)
        & (after["to_move"] != before["to_move"])
        & ((after["flags"] & VALUE_ALONE) == 0)
    )
    numbers[:-1][follows] = np.flatnonzero(follows) + 1
    return numbers


def short_values(rows: Rows, horizons: tuple[float, ...]) -> npt.NDArray[np.float32]:
    """Return the values of some plies on, of each record of whole games.

    For a horizon h the mean of the root values from this record on, weighted with ``λ^k (1 - λ)``,
    k records later, ``λ = h / (1 + h)``: h is the mean of k. The outcome of the game has the weight
    that is left at its end [Wu, KataGoMethods.md, "Short-term Value and Score Targets"].

    Returns:
        float32[N, len(horizons)], for the player to move at the record.

    """
    sign = 1.0 - 2.0 * rows["to_move"][:, None]  # to values for the first player
    roots = sign * rows["root_value"][:, None]
    share = 1.0 / (1.0 + np.array(horizons, np.float64))
    begins = np.flatnonzero(np.diff(rows["game"].astype(np.int64), prepend=-1))
    ends = np.append(begins, len(rows))[1:]
    mean = np.repeat((sign * rows["value"][:, None])[ends - 1], len(horizons), axis=1)
    found = np.empty((len(rows), len(horizons)))
    for back in range(1, int((ends - begins).max(initial=0)) + 1):
        going = np.flatnonzero(ends - begins >= back)
        at = ends[going] - back
        mean[going] += share * (roots[at] - mean[going])
        found[at] = mean[going]
    return (sign * found).astype(np.float32)


@dataclass(frozen=True)
class _OfShard:
    """Columns beside the records of a shard."""

    reply: npt.NDArray[np.intp] | None
    values: npt.NDArray[np.float32] | None


class LaterTargets:
    """The targets of some rows; what is worked out for a shard is kept while it is in the window.

    It pickles without what it keeps.
    """

    def __init__(self, reply: bool, horizons: tuple[float, ...]) -> None:
        """Say which are wanted."""
        self.reply, self.horizons = reply, horizons
        self._known: dict[Path, _OfShard] = {}

    def keep(self, paths: Iterable[Path]) -> None:
        """Forget all other shards."""
        known = self._known
        self._known = {path: known[path] for path in paths if path in known}

    def reply_visits(
        self, view: View, rows: npt.NDArray[np.int64], layout: Layout, maps: ShardMaps
    ) -> npt.NDArray[np.uint16]:
        """Return the visits of the replies, uint16[N,A]; zeros where there is none."""
        visits = np.zeros((len(rows), layout.actions), np.uint16)
        for where, piece, at in view.located(rows):
            shard = maps.rows(piece.path, layout, piece.shard.positions)
            reply = self._of(piece.path, shard).reply
            assert reply is not None
            numbers = reply[at]
            visits[where[numbers >= 0]] = shard["visits"][numbers[numbers >= 0]]
        return visits

    def values(
        self, view: View, rows: npt.NDArray[np.int64], layout: Layout, maps: ShardMaps
    ) -> npt.NDArray[np.float32]:
        """Return the values of some plies on, float32[N, len(horizons)]."""
        found = np.empty((len(rows), len(self.horizons)), np.float32)
        for where, piece, at in view.located(rows):
            shard = maps.rows(piece.path, layout, piece.shard.positions)
            values = self._of(piece.path, shard).values
            assert values is not None
            found[where] = values[at]
        return found

    def _of(self, path: Path, shard: Rows) -> _OfShard:
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = _OfShard(
                replies(shard) if self.reply else None,
                short_values(shard, self.horizons) if self.horizons else None,
            )
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Each process works out its own."""
        return {**self.__dict__, "_known": {}}
