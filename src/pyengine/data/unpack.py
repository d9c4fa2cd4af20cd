"""From records to what a network reads and learns: planes and policies in the spec's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import CUT_SHORT, FULL_SEARCH, VALUE_ALONE, Layout, Rows
from pyengine.data.symmetry import moved, policy_sources

__all__ = ["Batch", "Unpacker"]

#: Arrays by name, all with the rows of the batch first.
Batch: TypeAlias = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class _Run:
    """Neighbouring channels of one kind: where they are in the planes and in their column."""

    kind: str
    channels: slice
    slots: slice


class Unpacker:
    """Makes batches of records. Its tables are made once; it changes nothing and it pickles."""

    def __init__(self, layout: Layout) -> None:
        """Make the tables."""
        self.layout = layout
        self._dense = [np.array(slots, np.intp) for slots in layout.dense_slots]
        self._policy = [policy_sources(layout, k) for k in range(layout.symmetries)]
        self._runs = _runs(layout.kinds)

    def batch(self, rows: Rows, symmetries: npt.NDArray[np.uint8] | None = None) -> Batch:
        """Return the arrays of some records.

        Args:
            rows: N of them.
            symmetries: uint8[N], of the board's symmetries; None = as the positions were.

        Returns:
            ``planes`` float32[N,C,H,W] (or [N,H,W,C]: as the spec says), ``policy`` float32[N,A]
            (shares of the visits, sum 1, in the order of the spec's policy), ``value``,
            ``root_value`` and ``network_value`` float32[N] (for the player to move), ``game``
            int64[N], ``ply`` int64[N], ``full`` and ``decided`` bool[N]; where the records have
            it ``surprise`` float32[N].

        """
        groups = _groups(symmetries)
        batch: Batch = {
            "planes": self._planes(rows, groups),
            "policy": self._shares(rows["visits"], groups),
            "value": rows["value"].astype(np.float32),
            "root_value": rows["root_value"].astype(np.float32),
            "network_value": rows["network_value"].astype(np.float32),
            "game": rows["game"].astype(np.int64),
            "ply": rows["ply"].astype(np.int64),
            "full": (rows["flags"] & (FULL_SEARCH | VALUE_ALONE)) == FULL_SEARCH,
            "decided": (rows["flags"] & CUT_SHORT) == 0,
        }
        if self.layout.surprise:
            batch["surprise"] = rows["surprise"].astype(np.float32)
        return batch

    def shares(
        self, visits: npt.NDArray[np.uint16], symmetries: npt.NDArray[np.uint8] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return policies float32[N,A] of visits uint16[N,A], as in :meth:`batch`; 0 for none."""
        return self._shares(visits, _groups(symmetries))

    def points(
        self, boards: npt.NDArray[Any], symmetries: npt.NDArray[np.uint8] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return boards [N,H,W], the top row first, as float32 with their points as planes have."""
        found = np.empty(boards.shape, np.float32)
        target = found[:, ::-1] if self.layout.spec.rows == "bottom_up" else found
        for k, where in _groups(symmetries).items():
            target[where] = moved(boards[where], k)
        return found

    def _planes(self, rows: Rows, groups: dict[int, Any]) -> npt.NDArray[np.float32]:
        layout = self.layout
        count, board = len(layout.kinds), (layout.rows, layout.columns)
        last = layout.spec.layout == "NHWC"
        shape = (len(rows), *board, count) if last else (len(rows), count, *board)
        planes = np.empty(shape, np.float32)
        target = np.moveaxis(planes, -1, 1) if last else planes
        if layout.spec.rows == "bottom_up":
            target = target[..., ::-1, :]
        columns = self._columns(rows)
        for run in self._runs:
            if run.kind == "fill":
                target[:, run.channels] = columns["fill"][:, run.slots, None, None]
                continue
            values = columns[run.kind]
            for k, where in groups.items():
                slots: Any = self._dense[k][run.slots] if run.kind == "dense" else run.slots
                target[where, run.channels] = moved(values[where][:, slots], k)
        return planes

    def _columns(self, rows: Rows) -> dict[str, npt.NDArray[Any]]:
        """Columns of the planes, bits as numbers: [N, planes of the kind, H, W] or [N, F]."""
        layout = self.layout
        columns: dict[str, npt.NDArray[Any]] = {}
        for kind, shape in layout.column_shapes.items():
            if shape[0] == 0:
                continue
            values = rows[kind]
            if kind == "bits":
                values = np.unpackbits(values, axis=-1, count=layout.points, bitorder="little")
            board = (len(rows), shape[0], layout.rows, layout.columns)
            columns[kind] = values if kind == "fill" else values.reshape(board)
        return columns

    def _shares(
        self, counts: npt.NDArray[np.uint16], groups: dict[int, Any]
    ) -> npt.NDArray[np.float32]:
        visits = counts.astype(np.float32)
        visits /= np.maximum(visits.sum(axis=1, keepdims=True), 1)
        policy = np.empty_like(visits)
        for k, where in groups.items():
            policy[where] = visits[where][:, self._policy[k]]
        return policy


def _runs(kinds: tuple[str, ...]) -> list[_Run]:
    runs: list[_Run] = []
    used = dict.fromkeys(kinds, 0)
    for channel, kind in enumerate(kinds):
        slot = used[kind]
        used[kind] += 1
        if runs and runs[-1].kind == kind:
            last = runs.pop()
            run = _Run(
                kind, slice(last.channels.start, channel + 1), slice(last.slots.start, slot + 1)
            )
        else:
            run = _Run(kind, slice(channel, channel + 1), slice(slot, slot + 1))
        runs.append(run)
    return runs


def _groups(symmetries: npt.NDArray[np.uint8] | None) -> dict[int, Any]:
    """Which rows have which symmetry."""
    if symmetries is None:
        return {0: slice(None)}
    return {int(k): np.flatnonzero(symmetries == k) for k in np.unique(symmetries)}
