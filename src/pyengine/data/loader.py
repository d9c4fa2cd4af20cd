"""Support for PyTorch's DataLoader: collating whole batches, and random symmetries."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.unpack import Batch


class Row(dict[str, Any]):
    """A row of a dataset; ``default_collate`` finds :func:`_collated` by its type."""


class Rows(Sequence[Row]):
    """The rows of a batch, created on first access; collating needs only the first one."""

    def __init__(self, batch: Batch, size: int) -> None:
        self.batch, self._size = batch, size
        self.made: dict[int, Row] = {}  # callers may have changed these
        _register()

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._size))]
        if not -self._size <= index < self._size:
            raise IndexError(f"expected an index into {self._size} rows, got {index}")
        at = index % self._size
        if at not in self.made:
            self.made[at] = Row({name: values[at] for name, values in self.batch.items()})
        return self.made[at]


def _register() -> None:
    """Register the collate function with PyTorch if it is loaded."""
    if "torch.utils.data" in sys.modules:  # whoever has a DataLoader has imported it
        collate = sys.modules["torch.utils.data"]._utils.collate
        collate.default_collate_fn_map.setdefault(Row, _collated)


def _collated(rows: Sequence[Row], *, collate_fn_map: Any = None) -> dict[str, Any]:
    """Return tensors by name, without a copy if only the first row was created."""
    torch = sys.modules["torch"]
    if isinstance(rows, Rows) and len(rows.made) < 2 <= len(rows):
        return {name: torch.from_numpy(values) for name, values in rows.batch.items()}
    collate = sys.modules["torch.utils.data"]._utils.collate.collate
    names = rows[0].keys()
    return {n: collate([r[n] for r in rows], collate_fn_map=collate_fn_map) for n in names}


def drawn_for_loader(rows: int, symmetries: int, *, in_batch: bool) -> npt.NDArray[np.uint8] | None:
    """Return uint8[rows], each in 0..symmetries-1, if a DataLoader is reading; else None.

    The numbers come from PyTorch's global generator: ``torch.manual_seed`` seeds it, and the
    loader seeds it in each worker. Only a loader reads rows in a batch (``in_batch``, from
    ``__getitems__``); single rows come from a loader only in a worker.
    """
    loading = sys.modules.get("torch.utils.data")  # whoever has a DataLoader has imported it
    if loading is None or not (in_batch or loading.get_worker_info() is not None):
        return None
    drawn = np.empty(rows, np.uint8)
    sys.modules["torch"].from_numpy(drawn).random_(0, symmetries)
    return drawn
