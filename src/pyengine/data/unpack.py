"""Unpacking of records into planes and policies in the order of the spec."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import CUT_SHORT, FULL_SEARCH, VALUE_ALONE, Layout, Rows
from pyengine.games.symmetries import permuted, reflected, reflected_actions

#: Arrays by name; the first axis is the rows of the batch.
Batch: TypeAlias = dict[str, npt.NDArray[Any]]


def policy_sources(layout: Layout, k: int) -> npt.NDArray[np.intp]:
    """Return intp[A]: the action for each entry of the network's policy under symmetry k."""
    rows, columns = layout.board
    if layout.action_images:
        order = np.argsort(layout.action_images[k])
    else:
        order = reflected_actions(layout.board, layout.actions, k)
    if layout.spec.policy_rows == "bottom_up" and layout.actions >= rows * columns:
        board = order[: rows * columns].reshape(rows, columns)[::-1]
        order = np.concatenate([board.ravel(), order[rows * columns :]])
    if layout.pass_action is None:
        return order
    index = layout.spec.pass_index
    others = order[order != layout.pass_action]
    return np.insert(others, layout.actions - 1 if index is None else index, layout.pass_action)


@dataclass(frozen=True)
class _Run:
    """Adjacent channels of one kind: their range in the planes and in their column."""

    kind: str
    channels: slice
    slots: slice


class Unpacker:
    """Turns records into batches. Immutable."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._dense = [np.array(slots, np.intp) for slots in layout.dense_slots]
        self._policy = [policy_sources(layout, k) for k in range(layout.symmetries)]
        self._runs = _runs(layout.kinds)

    def batch(self, rows: Rows, symmetries: npt.NDArray[np.uint8] | None = None) -> Batch:
        """Return N records as a batch in the format of :class:`~pyengine.Dataset`.

        ``symmetries``: uint8[N], symmetries of the board; None applies no symmetry.
        """
        batch: Batch = {
            "planes": self._planes(rows, _groups(symmetries)),
            "policy": self.shares(rows["visits"], symmetries),
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
        """Return policies float32[N,A] for visits uint16[N,A]; a row without visits stays 0."""
        shares = visits.astype(np.float32)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
        policy = np.empty_like(shares)
        for k, where in _groups(symmetries).items():
            policy[where] = shares[where][:, self._policy[k]]
        return policy

    def points(
        self, boards: npt.NDArray[Any], symmetries: npt.NDArray[np.uint8] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return boards [N,H,W], top row first, as float32 planes."""
        planes = np.empty(boards.shape, np.float32)
        target = planes[:, ::-1] if self.layout.spec.rows == "bottom_up" else planes
        for k, where in _groups(symmetries).items():
            target[where] = self._moved(boards[where], k)
        return planes

    def _moved(self, array: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
        """Return ``array[..., H, W]`` with its points moved by symmetry k."""
        images = self.layout.point_images
        return permuted(array, images[k]) if images else reflected(array, k)

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
                target[where, run.channels] = self._moved(values[where][:, slots], k)
        return planes

    def _columns(self, rows: Rows) -> dict[str, npt.NDArray[Any]]:
        """Return bits (unpacked) and dense as [N, planes, H, W], and fill as [N, F]."""
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


def _runs(kinds: tuple[str, ...]) -> list[_Run]:
    runs: list[_Run] = []
    used = dict.fromkeys(kinds, 0)
    channel = 0
    for kind, group in itertools.groupby(kinds):
        slot, length = used[kind], len(list(group))
        used[kind] += length
        runs.append(_Run(kind, slice(channel, channel + length), slice(slot, slot + length)))
        channel += length
    return runs


def _groups(symmetries: npt.NDArray[np.uint8] | None) -> dict[int, Any]:
    """Return the rows for each symmetry."""
    if symmetries is None:
        return {0: slice(None)}
    return {int(k): np.flatnonzero(symmetries == k) for k in np.unique(symmetries)}
