"""A position as it is shown: :class:`Board`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Board", "Point"]

#: Row and column, from the top left.
Point: TypeAlias = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Board:
    """What a board shows.

    Attributes:
        game: its name, which decides the colours.
        rows: the top one first; ``X`` and ``O`` are stones of the first and the second player.
        row_names: beside the rows; "" for none.
        column_names: below the columns.
        last: the stone played last.
    """

    game: str
    rows: Sequence[str]
    row_names: Sequence[str]
    column_names: Sequence[str]
    last: Point | None = None
