"""Lines that arrive while a search runs."""

from __future__ import annotations

import pytest

from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Lines


def inbox_of(text: str) -> Inbox:
    source = iter([text.encode(), b""])
    lines = Lines(lambda: next(source))
    while not lines.waiting():
        pass
    return Inbox(lines)


@pytest.mark.parametrize(
    ("text", "at_end", "over", "answers", "left"),
    [
        ("go\nSTOP now\n", False, True, 0, ["go", "STOP now"]),
        ("isready\ngo\nisready\n", False, False, 2, ["go"]),
        ("", False, False, 0, []),
        ("", True, True, 0, []),
    ],
)
def test_a_search_ends_at_certain_lines_and_no_other_is_lost(
    text: str, at_end: bool, over: bool, answers: int, left: list[str]
):
    inbox, count = inbox_of(text), []
    until = inbox.until("stop", at_end=at_end, isready=lambda: count.append(1))
    until()
    while not text and at_end and not until():
        pass
    assert until() is over
    assert len(count) == answers
    assert list(iter(inbox.read, None)) == left
