"""Games whose actions belong to points, as the heads of a convolutional network need."""

from __future__ import annotations

from typing import NamedTuple


class PointActions(NamedTuple):
    """Actions ``point * per_point + d`` with d in 0..per_point-1, and optionally a pass, last."""

    per_point: int
    has_pass: bool


def point_actions(board: tuple[int, int], actions: int) -> PointActions | None:
    """Return how the actions of a game divide among the points of its planes; None if unevenly.

    Only the numbers tell: a game whose actions are numbered in another order is not recognised.
    """
    per_point, others = divmod(actions, board[0] * board[1])
    return PointActions(per_point, others == 1) if per_point >= 1 and others <= 1 else None
