"""What a path search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AStarResult"]


@dataclass(frozen=True, kw_only=True)
class AStarResult:
    """What a path search found: plain values.

    Attributes:
        path: nodes from the start to a goal, both included; None where none was found.
        cost: sum of the costs of its edges; infinity where none was found.
        expanded: nodes whose successors were made; a reopened node counts again.
        generated: successors that were made, known ones included.
        reopened: how often a cheaper path led to a node that was closed already, which a consistent
            heuristic rules out.
        optimal: whether no path is cheaper. Known for graphs, grids and sliding puzzles; for a
            user's problem it holds if the heuristic never exceeds the cost to a goal, and is False
            where the path itself shows that it does.
        bound: the cost is at most so many times the least one, if the heuristic never exceeds the
            cost to a goal: ``weight_h / weight_g``, at least 1 (the square root of 2 times that for
            ``"manhattan"`` with 8 neighbours); infinity where nothing is known.
        stop_reason: ``"found"``; ``"exhausted"``: no goal can be reached; ``"seconds"``,
            ``"memory"``: a limit; ``"stopped"``: by ``on_progress``. ``"running"`` in what
            ``on_progress`` is given.
        seconds: of the call.
        bytes: memory that the search held at its end.
        status: with ``keep_status=True``, of graphs ``uint8[nodes]``, of grids ``uint8[H, W]``:
            0 unseen, 1 open, 2 closed. None with ``method="ida"``, which keeps none, and where the
            memory cap left no room for it.
    """

    path: list[Any] | None
    cost: float
    expanded: int
    generated: int
    reopened: int
    optimal: bool
    bound: float
    stop_reason: str
    seconds: float
    bytes: int
    status: NDArray[np.uint8] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Return the essentials in one line; of the path its length."""
        path = None if self.path is None else f"{len(self.path):,} nodes"
        return (
            f"AStarResult(path={path}, cost={self.cost:g}, expanded={self.expanded}, "
            f"optimal={self.optimal}, stop_reason={self.stop_reason!r})"
        )
