"""Splitting an SGF file into games, so that a damaged game does not affect the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.base.extras import need
from pyengine.data.sgf.encoding import FIRST_PROPERTY, to_utf8
from pyengine.errors import DataError

_ROOT = rb"(?:FF|GM|SZ|CA|AP|ST)"  # properties that only a root node has

_BEGIN = re.compile(rb"\(\s*(?:(?P<node>;)|" + FIRST_PROPERTY + rb"\s*\[)")
_PART = re.compile(
    rb"\[(?P<value>[^\\\]]*(?:\\.[^\\\]]*)*)(?:\]|\\?\Z)"
    rb"|(?P<root>\()(?=\s*;?\s*" + _ROOT + rb"\s*\[)"
    rb"|(?P<open>\()"
    rb"|(?P<close>\))",
    re.DOTALL,
)
# A truncated value extends to the end of the first value of the next game.
_SWALLOWED = re.compile(rb"\(\s*;\s*" + FIRST_PROPERTY + rb"\s*\[[^][]*\Z")


class SgfError(DataError):
    """An unusable game record: a reason, which is counted, and details."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class SgfTree:
    """A game in a file."""

    number: int  #: number of the game in the file, from 1; 0 if it is the only one
    tree: Any  #: sgfmill's Coarse_game_tree with values in UTF-8; None for a damaged game
    error: SgfError | None = None  #: set for a damaged game
    #: Unusual properties by reason; the first game also has those of the whole file.
    notes: dict[str, str] = field(default_factory=dict)


def grammar() -> Any:
    """Return ``sgfmill.sgf_grammar``. Raises EngineError without the extra ``sgf``."""
    return need("sgfmill.sgf_grammar", "sgf")


def read_collection(content: bytes) -> Iterator[SgfTree]:
    """Yield the games of a file in one pass; a file without games yields one error."""
    sgf = grammar()
    data, notes = to_utf8(content)
    number = at = 0
    begin = _BEGIN.search(data)
    if begin is not None and data[: begin.start()].strip():
        notes["text outside the games"] = "before game 1"
    while begin is not None:
        number += 1
        at, problem = _end(data, begin.start())
        text, following = data[begin.start() : at], _BEGIN.search(data, at)
        if data[at : len(data) if following is None else following.start()].strip():
            notes["text outside the games"] = f"after game {number}"
        if begin["node"] is None:
            notes["no ; before the first property"] = f"game {number}"
            text = b"(;" + text[1:]
        name = 0 if number == 1 and following is None else number
        if problem is None:
            try:
                yield SgfTree(name, sgf.parse_sgf_game(text), None, notes)
            except ValueError as error:
                problem = _unexpected(text) or str(error)
        if problem is not None:
            yield SgfTree(name, None, SgfError("unreadable", problem), notes)
        begin, notes = following, {}
    if number == 0:
        yield SgfTree(0, None, SgfError("unreadable", "no game in SGF"), notes)


def _unexpected(text: bytes) -> str:
    """Describe the text at which sgfmill stops, such as an unescaped bracket; "" if none."""
    rest = text[grammar().tokenise(text)[1] :].strip()
    return f"unexpected {short_repr(rest[:40].decode(errors='replace'))}" if rest else ""


def _end(data: bytes, start: int) -> tuple[int, str | None]:
    """Return the end of the game that begins at ``start``, and a problem if it is truncated."""
    depth = 0
    for part in _PART.finditer(data, start):
        if (value := part["value"]) is not None:
            if b"(" in value and (next_game := _SWALLOWED.search(value)):
                return part.start("value") + next_game.start(), "truncated, the next game follows"
        elif part["close"]:
            depth -= 1
            if depth == 0:
                return part.end(), None
        elif part["root"] and depth > 0:
            return part.start(), "truncated, the next game follows"
        else:
            depth += 1
    return len(data), "truncated at the end of the file"
