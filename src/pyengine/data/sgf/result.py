"""Results of games as SGF files have them (RE)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

__all__ = ["Result", "is_usual", "read_number", "read_result"]

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
    """A result that is clear.

    Attributes:
        winner: 0 or 1; None for a draw.
        how: ``"score"``, also of a win without a margin; ``"resign"``; ``"late"``: by time or
            forfeit, so that the last position does not say who would have won.
        margin: of a win by score, where the file has it.
        unit: of the margin. Chinese scores are in stones; a stone is two points.
    """

    winner: int | None
    how: Literal["score", "resign", "late"] = "score"
    margin: float | None = None
    unit: Literal["points", "stones"] = "points"

    def __str__(self) -> str:
        """Return the result as SGF has it; a late one is T."""
        if self.winner is None:
            return "0"
        end = {"resign": "R", "late": "T"}.get(self.how)
        margin = "" if self.margin is None else format(self.margin, "g")
        return f"{'BW'[self.winner]}+{margin if end is None else end}"


def is_usual(text: str) -> bool:
    """Return whether a result is written as FF[4] has it."""
    return _USUAL.fullmatch(text) is not None


def read_result(text: str) -> Result | None:
    """Return the result in a text, in capitals or not; None if it is not clear."""
    plain = " ".join(unicodedata.normalize("NFKC", text).upper().split())
    remarks = [one or other for one, other in _REMARK.findall(plain)]
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
    """Return a number of points or stones, and whether it is of stones; None for other text."""
    found = _SCORE.fullmatch(unicodedata.normalize("NFKC", text).upper().strip())
    if found is None or not (found["whole"] or found["top"] or found["half"]):
        return None
    value = float((found["whole"] or "0").replace(",", "."))
    if found["top"]:
        value += int(found["top"]) / int(found["bottom"])
    half = found["half"] or found["half_more"]
    return value + (0.5 if half else 0.0), found["unit"] in _STONES
