"""Values of SGF properties: text, points, board sizes, komi, results (RE)."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyengine.base.checks import shortened
from pyengine.data.sgf.collection import SgfError, grammar

#: The properties of a node by identifier: sgfmill's raw values in UTF-8.
Properties: TypeAlias = Mapping[str, list[bytes]]

#: Rows and columns.
Board: TypeAlias = tuple[int, int]

#: The properties of a move, by player.
COLOURS = ("B", "W")

_LETTERS = string.ascii_lowercase
_PASS_OF_FF3 = "tt"  # on boards up to 19x19
_SIZE = re.compile(r"(\d{1,3})(?:\s*:\s*(\d{1,3}))?")


def text_of(properties: Properties, name: str) -> str:
    """Return the first value of a property, unescaped, or ""."""
    values = properties.get(name)
    return "" if not values else str(grammar().simpletext_value(values[0]).decode().strip())


def read_size(text: str) -> Board:
    """Return the board size in SZ: 19x19 by default; ``columns:rows`` if not square."""
    if not text:
        return 19, 19
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) == 0 or int(match[2] or 1) == 0:
        raise SgfError("unreadable", f"SZ[{shortened(text)}] is not a board size")
    return int(match[2] or match[1]), int(match[1])


def read_komi(text: str, notes: dict[str, str]) -> float | None:
    """Return the komi in KM in points; None if it is unclear. Adds unusual forms to ``notes``.

    The Fox server writes 100 times the komi. A komi ending in .25 or .75 is in Chinese stones,
    which are worth two points.
    """
    sign, digits = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    value, in_stones = read_number(digits) or (None, False)
    if value is None:
        notes["unclear komi"] = f"KM[{shortened(text)}]"
        return None
    komi = value / 100 if value >= 100 and value.is_integer() else value
    if in_stones or (2 * komi) % 1 == 0.5:
        komi *= 2
    if (2 * komi) % 1 != 0:
        notes["unclear komi"] = f"KM[{shortened(text)}]"
        return None
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", digits) or komi != value:
        notes["a komi in an unusual form"] = f"KM[{shortened(text)}], read as {sign * komi:g}"
    return sign * komi


def move_of(properties: Properties) -> tuple[int, str] | None:
    """Return the player (0 or 1) and value of a node's move; None without a move."""
    moves = [
        (player, value) for player, name in enumerate(COLOURS) for value in properties.get(name, ())
    ]
    if len(moves) > 1:
        text = " ".join(f"{COLOURS[player]}[{value.decode()}]" for player, value in moves)
        raise SgfError("several moves in a node", shortened(text))
    return (moves[0][0], moves[0][1].decode()) if moves else None


def read_move(text: str, board: Board) -> int | None:
    """Return the action of a move, row * columns + column; None for a pass."""
    bare = text.strip()
    if bare.lower() in ("", "pass") or (bare == _PASS_OF_FF3 and max(board) <= 19):
        return None
    return point_of(bare, board)


def point_of(text: str, board: Board) -> int:
    """Return row * columns + column of a point, rows from the top."""
    rows, columns = board
    column, row = map(_LETTERS.find, text) if len(text) == 2 else (-1, -1)
    if not (0 <= row < rows and 0 <= column < columns):
        raise SgfError(
            "unreadable", f"[{shortened(text)}] is not a point on a {rows}x{columns} board"
        )
    return row * columns + column


def point_text(point: int, board: Board) -> bytes:
    """Return the SGF text of row * columns + column, rows from the top."""
    row, column = divmod(point, board[1])
    return f"{_LETTERS[column]}{_LETTERS[row]}".encode()


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


# Results

_SCORE = re.compile(
    r"(?P<whole>\d{1,9}(?:[.,]\d{0,9})?|[.,]\d{1,9})?\s*(?:又|AND)?\s*"
    r"(?:(?<![\d.,])(?P<top>\d{1,9})/(?P<bottom>[1-9]\d{0,8}))?\s*"
    r"(?P<half>[半반])?(?P<unit>P(?:OIN)?TS?|MOKU|目|집|STONES?|ZI|子)?(?P<half_more>[半반])?"
    r"(?:勝ち?|胜|승)?\.?"
)
_STONES = ("STONE", "STONES", "ZI", "子")
_WINNER = re.compile(
    r"(?:(?:(B|BLACK)|W|WHITE)\s*\+|(?:([黑黒흑])|[白백])[方番]?\s*(?:\+|[胜勝]|(?=[中불\d半반])))\s*"
)
_DRAW = re.compile(r"DRAW(?:N)?|JIGO|TIE|持碁|ジゴ|和棋?|무승부")
_RESIGNED = re.compile(
    r"R(?:ES(?:IGN(?:S|ED|ATION)?)?)?\.?|中[盘盤](?:[胜勝]ち?)?|中押し?(?:勝ち?)?|불계승?"
)
_LATE = re.compile(r"(?:.*[\W\d])?(?:T|TIME.*|F|FORF.*)")
_LATE_REMARK = re.compile(r"(?:WON |LOST |BY |ON |IN )*(?:TIME(?: ?OUT)?|FORF\w*)\.?")
_USUAL = re.compile(r"[BW]\+(\d+(\.\d+)?|R(esign)?|T(ime)?|F(orfeit)?)?|0|Draw|Void|\?|")
_REMARK = re.compile(r"\{([^{}]*)\}|\(([^()]*)\)")


@dataclass(frozen=True)
class Result:
    """The result of a game.

    Attributes:
        winner: 0 or 1; None for a draw.
        how: ``"score"``, even without a margin; ``"resign"``; or ``"late"``: by time or forfeit,
            so that the last position does not show who was ahead.
        margin: margin of a win by score, if known.
        unit: unit of the margin. Chinese scores are in stones; a stone is worth two points.
    """

    winner: int | None
    how: Literal["score", "resign", "late"] = "score"
    margin: float | None = None
    unit: Literal["points", "stones"] = "points"

    def __str__(self) -> str:
        """Return the result in the form of RE; a late one is written as T."""
        if self.winner is None:
            return "0"
        end = {"resign": "R", "late": "T"}.get(self.how)
        margin = "" if self.margin is None else format(self.margin, "g")
        return f"{'BW'[self.winner]}+{margin if end is None else end}"


def is_usual(text: str) -> bool:
    """Return whether a result has the form specified by FF[4]."""
    return _USUAL.fullmatch(text) is not None


def read_result(text: str) -> Result | None:
    """Parse a result, ignoring case; None if it is unclear."""
    plain = " ".join(unicodedata.normalize("NFKC", text).upper().split())
    remarks = [braced or parenthesized for braced, parenthesized in _REMARK.findall(plain)]
    plain = _REMARK.sub("", plain).strip()
    won = _WINNER.match(plain)
    if won is None:
        return Result(None) if _DRAW.fullmatch(plain) or read_number(plain) == (0, False) else None
    winner, margin = int(won[1] is won[2] is None), plain[won.end() :]
    if any(_LATE_REMARK.fullmatch(remark.strip()) for remark in remarks):
        return Result(winner, "late")
    if _RESIGNED.fullmatch(margin):
        return Result(winner, "resign")
    if not margin:
        return Result(winner)
    score = read_number(margin)
    if score is None:
        return Result(winner, "late") if _LATE.fullmatch(margin) else None
    points, in_stones = score
    if points == 0:
        return Result(None)
    return Result(winner, "score", points, "stones" if in_stones else "points")


def read_number(text: str) -> tuple[float, bool] | None:
    """Return a number, and whether its unit is stones instead of points; None for other text."""
    match = _SCORE.fullmatch(unicodedata.normalize("NFKC", text).upper().strip())
    if match is None or not (match["whole"] or match["top"] or match["half"]):
        return None
    value = float((match["whole"] or "0").replace(",", "."))
    if match["top"]:
        value += int(match["top"]) / int(match["bottom"])
    half = match["half"] or match["half_more"]
    return value + (0.5 if half else 0.0), match["unit"] in _STONES
