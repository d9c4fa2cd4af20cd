"""What a caller gives to a dataset, held against what it must be."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import elements, in_one_line, number
from pyengine.base.integers import integer
from pyengine.data.view import Window
from pyengine.errors import ConfigError

__all__ = [
    "checked_horizons",
    "checked_weights",
    "checked_window",
    "row_number",
    "row_numbers",
    "symmetry_numbers",
]


def row_number(index: Any, rows: int) -> int:
    """Return which of so many rows an index means. Raises TypeError and IndexError, as lists do."""
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeError(f"index must be a whole number, found {in_one_line(index)}") from None
    if not -rows <= number < rows:
        raise IndexError(f"index must be of one of {rows} rows, found {number}")
    return number % rows


def row_numbers(indices: Any, rows: int) -> npt.NDArray[np.int64]:
    """Return the numbers of rows, int64[N].

    Raises TypeError unless they are whole numbers in one dimension, IndexError unless all are in
    0..rows-1.
    """
    found = np.asarray(indices)
    if found.ndim != 1 or (len(found) > 0 and found.dtype.kind not in "iu"):
        raise TypeError(
            f"indices must be whole numbers in one dimension, found {in_one_line(indices)}"
        )
    if len(found) > 0 and not (found.min() >= 0 and found.max() < rows):
        raise IndexError(
            f"indices must be of {rows} rows, from 0 on, found {found.min()} to {found.max()}"
        )
    return found.astype(np.int64)


def symmetry_numbers(symmetries: Any, rows: int, count: int) -> npt.NDArray[np.uint8]:
    """Return uint8[rows]. Raises ConfigError unless they are as many, each in 0..count-1."""
    found = np.asarray(symmetries)
    fits = found.shape == (rows,) and (rows == 0 or found.dtype.kind in "iu")
    if not fits or (rows > 0 and not (found.min() >= 0 and found.max() < count)):
        raise ConfigError(
            f"symmetries must be {rows} whole numbers in 0..{count - 1}, "
            f"found {in_one_line(symmetries)}"
        )
    return found.astype(np.uint8)


def checked_window(window: Window, directories: int) -> Window:
    """Return a window of ints. Raises ConfigError."""
    if not isinstance(window, Sequence) or isinstance(window, str | bytes):
        return None if window is None else integer("window", window, 1)
    if len(window) != directories:
        raise ConfigError(
            f"window must be one number or {directories} of them, found {in_one_line(window)}"
        )
    return tuple(None if one is None else integer("window", one, 1) for one in window)


def checked_horizons(horizons: Sequence[float]) -> tuple[float, ...]:
    """Return plies to look ahead. Raises ConfigError."""
    wanted = "numbers of plies above 0"
    each = elements("horizons", horizons, wanted)
    return tuple(number("horizons", one, wanted, lambda plies: plies > 0) for one in each)


def checked_weights(weights: Sequence[float] | None, directories: int) -> list[float] | None:
    """Return weights of the directories; None = none. Raises ConfigError."""
    if weights is None:
        return None
    wanted = f"{directories} numbers of at least 0, one above it"
    each = elements("weights", weights, wanted)
    found = [number("weights", one, wanted, lambda weight: weight >= 0) for one in each]
    if len(found) != directories or sum(found) <= 0:
        raise ConfigError(f"weights: expected {wanted}, found {in_one_line(weights)}")
    return found
