"""Board symmetries of whole arrays: planes as views, policies as orders of columns.

Symmetry k: bit 2 of k transposes, then bit 0 reverses the columns and bit 1 the rows; as
``Game.symmetry_points`` has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import Layout

__all__ = ["moved", "policy_sources"]


def moved(array: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """Return a view ``[..., H, W]`` with its points moved by symmetry k."""
    if k & 4:
        array = array.swapaxes(-1, -2)
    if k & 1:
        array = array[..., ::-1]
    if k & 2:
        array = array[..., ::-1, :]
    return array


def policy_sources(layout: Layout, k: int) -> npt.NDArray[np.intp]:
    """Return intp[A]: entry j of the network's policy under symmetry k is this action's.

    The spec's ``policy_rows`` and ``pass_index`` are seen to.
    """
    rows, columns = layout.board
    points = rows * columns
    actions = np.arange(layout.actions)
    if layout.actions == columns and rows > 1:  # an action is a column
        return moved(actions[None, :], k).ravel()
    if layout.actions < points:
        return actions  # no board: there is but the identity
    board = moved(actions[:points].reshape(rows, columns), k)
    if layout.spec.policy_rows == "bottom_up":
        board = board[::-1]
    order = np.concatenate([board.ravel(), actions[points:]])
    if layout.pass_action is None:
        return order
    where = layout.spec.pass_index
    others = order[order != layout.pass_action]
    place = layout.actions - 1 if where is None else where
    return np.insert(others, place, layout.pass_action)
