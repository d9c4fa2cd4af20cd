"""Random symmetries for a PyTorch DataLoader, out of the generator of PyTorch's own transforms."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

__all__ = ["drawn_for_loader"]


def drawn_for_loader(rows: int, symmetries: int, *, in_batch: bool) -> npt.NDArray[np.uint8] | None:
    """Return uint8[rows], each in 0..symmetries-1, when a DataLoader asks; None when none does.

    The numbers come from PyTorch's global generator. PyTorch seeds that of a worker by the
    loader's own seed, anew at each start: workers that live for an epoch draw others in the next,
    persistent ones go on. Without workers it is the generator that ``torch.manual_seed`` seeds.

    Args:
        rows: how many are asked for.
        symmetries: of the board.
        in_batch: whether rows are asked for as only a loader does (``__getitems__``); one by one
            they may be anybody's, except in a worker.

    """
    loading = sys.modules.get("torch.utils.data")  # no import: who has a loader has imported it
    if loading is None or not (in_batch or loading.get_worker_info() is not None):
        return None
    torch = sys.modules["torch"]
    drawn = torch.randint(symmetries, (rows,), device="cpu", dtype=torch.uint8)
    found: npt.NDArray[np.uint8] = drawn.numpy()
    return found
