"""What a PyTorch DataLoader needs: rows that it collates at once, and its own random symmetries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pyengine.data.unpack import Batch


class Row(dict[str, Any]):
    """A row of a dataset; its type is how ``default_collate`` finds :func:`_collated`."""


class Rows(Sequence[Row]):
    """The rows of a batch, each made when first asked for; a DataLoader asks for one."""

    def __init__(self, batch: Batch, size: int) -> None:
        self.batch, self._size = batch, size
        self.made: dict[int, Row] = {}  # a caller may have changed them
        _register()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._size))]
        if not -self._size <= index < self._size:
            raise IndexError(f"row {index} of {self._size}")
        at = index % self._size
        if at not in self.made:
            self.made[at] = Row({name: values[at] for name, values in self.batch.items()})
        return self.made[at]

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(self._size))


def _register() -> None:
    """Register the collate function with PyTorch, if it is loaded."""
    if "torch.utils.data" in sys.modules:  # no import: who has a loader has imported it
        collate = sys.modules["torch.utils.data"]._utils.collate
        collate.default_collate_fn_map.setdefault(Row, _collated)


def _collated(rows: Sequence[Row], *, collate_fn_map: Any = None) -> dict[str, Any]:
    """Return tensors by name: a whole batch without a copy, if no row but the first was made."""
    torch = sys.modules["torch"]
    if isinstance(rows, Rows) and len(rows.made) < 2 <= len(rows):
        return {name: torch.from_numpy(values) for name, values in rows.batch.items()}
    collate = sys.modules["torch.utils.data"]._utils.collate.collate
    names = rows[0].keys()
    return {n: collate([r[n] for r in rows], collate_fn_map=collate_fn_map) for n in names}


def drawn_for_loader(rows: int, symmetries: int, *, in_batch: bool) -> npt.NDArray[np.uint8] | None:
    """Return uint8[rows], each in 0..symmetries-1, if a DataLoader asks; else None.

    The numbers come from PyTorch's global generator, which ``torch.manual_seed`` seeds; a worker's
    is seeded by the loader at each start. ``in_batch``: rows are asked for as only a loader does
    (``__getitems__``); outside a worker, anybody may ask for single ones.
    """
    loading = sys.modules.get("torch.utils.data")  # no import: who has a loader has imported it
    if loading is None or not (in_batch or loading.get_worker_info() is not None):
        return None
    drawn = np.empty(rows, np.uint8)
    sys.modules["torch"].from_numpy(drawn).random_(0, symmetries)
    return drawn
