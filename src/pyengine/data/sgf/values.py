"""Values of SGF properties: text, points, the size of a board, komi."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pyengine.base.arguments import shortened
from pyengine.data.sgf.collection import SgfError, grammar
from pyengine.data.sgf.result import read_number

__all__ = [
    "COLOURS",
    "Board",
    "Properties",
    "move_of",
    "point_of",
    "points_of",
    "read_komi",
    "read_move",
    "read_size",
    "text_of",
]

#: The properties of a node by identifier, as sgfmill has them: raw values in UTF-8.
Properties: TypeAlias = Mapping[str, list[bytes]]

#: Rows and columns.
Board: TypeAlias = tuple[int, int]

#: The properties of a move, by player.
COLOURS = ("B", "W")

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PASS_OF_FF3 = "tt"  # on boards up to 19x19
_SIZE = re.compile(r"(\d{1,3})(?:\s*:\s*(\d{1,3}))?")


def text_of(properties: Properties, name: str) -> str:
    """Return the first value of a property without escapes; "" if it is absent."""
    values = properties.get(name)
    return "" if not values else str(grammar().simpletext_value(values[0]).decode().strip())


def read_size(text: str) -> Board:
    """Return the board of SZ: 19x19 unless it says otherwise, ``columns:rows`` if not square."""
    if not text:
        return 19, 19
    found = _SIZE.fullmatch(text)
    if found is None or int(found[1]) == 0 or int(found[2] or 1) == 0:
        raise SgfError("unreadable", f"SZ[{shortened(text)}] is no size of a board")
    return int(found[2] or found[1]), int(found[1])


def read_komi(text: str, notes: dict[str, str]) -> float | None:
    """Return the komi of KM in points; None if it is not clear. What is unusual is noted.

    Fox writes a hundred times the komi. A komi with a quarter is in Chinese stones, two points.
    """
    sign, digits = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    value, in_stones = read_number(digits) or (None, False)
    if value is None:
        notes["a komi that is not clear"] = f"KM[{shortened(text)}]"
        return None
    komi = value / 100 if value >= 100 and value.is_integer() else value
    if in_stones or (2 * komi) % 1 == 0.5:
        komi *= 2
    if (2 * komi) % 1 != 0:
        notes["a komi that is not clear"] = f"KM[{shortened(text)}]"
        return None
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", digits) or komi != value:
        notes["a komi in an unusual form"] = f"KM[{shortened(text)}], read as {sign * komi:g}"
    return sign * komi


def move_of(properties: Properties) -> tuple[int, str] | None:
    """Return who moves in a node, 0 or 1, and the value; None without a move."""
    moves = [
        (player, one) for player, name in enumerate(COLOURS) for one in properties.get(name, ())
    ]
    if len(moves) > 1:
        shown = " ".join(f"{COLOURS[player]}[{one.decode()}]" for player, one in moves)
        raise SgfError("several moves in a node", shortened(shown))
    return (moves[0][0], moves[0][1].decode()) if moves else None


def read_move(text: str, board: Board) -> int | None:
    """Return the action of a move, row * columns + column; None for a pass, in any form."""
    bare = text.strip()
    if bare.lower() in ("", "pass") or (bare == _PASS_OF_FF3 and max(board) <= 19):
        return None
    return point_of(bare, board)


def point_of(text: str, board: Board) -> int:
    """Return row * columns + column of a point, rows from the top."""
    rows, columns = board
    column, row = map(_LETTERS.find, text) if len(text) == 2 else (-1, -1)
    if not (0 <= row < rows and 0 <= column < columns):
        raise SgfError("unreadable", f"[{shortened(text)}] is no point of a {rows}x{columns} board")
    return row * columns + column


def points_of(properties: Properties, name: str, board: Board) -> Iterator[int]:
    """Yield the points of a list; ``aa:cc`` stands for a rectangle."""
    for value in properties.get(name, ()):
        first, _, last = value.decode().strip().partition(":")
        top = point_of(first.strip(), board)
        bottom = point_of(last.strip(), board) if last else top
        (top, left), (bottom, right) = divmod(top, board[1]), divmod(bottom, board[1])
        for row in range(min(top, bottom), max(top, bottom) + 1):
            for column in range(min(left, right), max(left, right) + 1):
                yield row * board[1] + column
