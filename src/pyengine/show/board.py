"""The displayed form of a position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

#: Row and column, from the top left.
Point: TypeAlias = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board to display."""

    game: str  #: the game's name, which selects the colours
    rows: Sequence[str]  #: top row first; ``X`` and ``O`` are the players' stones, ``.`` is empty
    row_names: Sequence[str]  #: "" for an unnamed row
    column_names: Sequence[str]
    last: Point | None = None  #: the last stone played
