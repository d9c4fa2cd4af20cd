"""Sparse symmetric matrices: :class:`Factors` solves and inverts them."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Factors"]


@dataclass(frozen=True, slots=True)
class _Eliminated:
    """A row: its pivot, and by how much of it the rows change that were still there."""

    row: int
    pivot: float
    shares: Mapping[int, float]


class Factors:
    """A positive definite matrix as L D Lᵀ, the row of fewest neighbours eliminated first.

    Time and memory are linear in the rows where few rows are neighbours of each other's, as players
    are who meet those shortly before them.

    Args:
        diagonal: one number a row.
        links: what is off it, by its two rows; each pair once, in either order.

    """

    def __init__(self, diagonal: Sequence[float], links: Mapping[tuple[int, int], float]) -> None:
        """Factorise."""
        pivots = list(diagonal)
        ahead: list[dict[int, float]] = [{} for _ in pivots]
        for (a, b), value in links.items():
            ahead[a][b] = ahead[b][a] = value
        self._steps: list[_Eliminated] = []
        waiting = [(len(neighbours), row) for row, neighbours in enumerate(ahead)]
        heapq.heapify(waiting)
        gone = [False] * len(pivots)
        while waiting:
            degree, row = heapq.heappop(waiting)
            if gone[row] or degree != len(ahead[row]):
                continue  # it was pushed again since
            gone[row] = True
            shares = {other: value / pivots[row] for other, value in ahead[row].items()}
            self._steps.append(_Eliminated(row, pivots[row], shares))
            for other, share in shares.items():
                mine = ahead[other]
                del mine[row]
                pivots[other] -= share * ahead[row][other]
                for third, value in ahead[row].items():
                    if third != other:
                        mine[third] = mine.get(third, 0.0) - share * value
                heapq.heappush(waiting, (len(mine), other))

    def solve(self, right: Sequence[float]) -> list[float]:
        """Return x with A x = right."""
        x = list(right)
        for each in self._steps:
            for other, share in each.shares.items():
                x[other] -= share * x[each.row]
        for each in reversed(self._steps):
            of_others = sum(share * x[other] for other, share in each.shares.items())
            x[each.row] = x[each.row] / each.pivot - of_others
        return x

    def inverse_diagonal(self) -> list[float]:
        """Return the diagonal of the inverse [Takahashi et al., 1973]."""
        inverse: list[dict[int, float]] = [{} for _ in self._steps]
        for each in reversed(self._steps):
            row = each.row
            for other in each.shares:
                found = -sum(share * inverse[third][other] for third, share in each.shares.items())
                inverse[row][other] = inverse[other][row] = found
            of_others = sum(share * inverse[row][other] for other, share in each.shares.items())
            inverse[row][row] = 1 / each.pivot - of_others
        return [inverse[row][row] for row in range(len(inverse))]
