"""Lines that arrive while a search runs."""

from __future__ import annotations

import pytest

from pyengine.protocols import inbox as inbox_module
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Lines


def inbox_of(text: str) -> Inbox:
    source = iter([text.encode(), b""])
    return Inbox(Lines(lambda: next(source)))


def is_over(inbox: Inbox, answers: list[int], *, at_end: bool) -> bool:
    """Return whether any of the lines ends a search."""
    until = inbox.until("stop", leaving="quit", at_end=at_end, isready=lambda: answers.append(1))
    polls = [until() for _ in range(2000)]  # the lines are read in the background
    return polls[-1]


@pytest.mark.parametrize(
    ("text", "at_end", "over", "answers", "left"),
    [
        ("go\nSTOP now\n", False, True, 0, ["go", "STOP now"]),
        ("isready\ngo\nisready\n", False, False, 2, ["go"]),
        ("go\nquit\n", False, True, 0, ["go", "quit"]),
        ("", False, False, 0, []),
        ("", True, True, 0, []),
    ],
)
def test_a_search_ends_at_certain_lines_and_no_other_is_lost(
    text: str,
    at_end: bool,
    over: bool,
    answers: int,
    left: list[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(inbox_module, "_PATIENCE", -1.0)
    inbox, answered = inbox_of(text), []
    assert is_over(inbox, answered, at_end=at_end) is over
    assert len(answered) == answers
    assert list(iter(inbox.read, None)) == left


def test_a_line_that_leaves_gives_a_short_search_time():
    inbox = inbox_of("go\nquit\n")
    assert not is_over(inbox, [], at_end=False)
    assert list(iter(inbox.read, None)) == ["go", "quit"]


def test_a_line_ends_one_search_alone():
    inbox = inbox_of("stop\ngo\n")
    assert is_over(inbox, [], at_end=False)
    assert inbox.read() == "stop"
    assert not is_over(inbox, [], at_end=False)


def test_a_whole_line_may_end_a_search():
    inbox = inbox_of("# a comment\n# Interrupt \ngo\n")
    until = inbox.until("# interrupt")
    assert [until() for _ in range(2000)][-1]
    assert inbox.waiting()
    assert [inbox.read(), inbox.read()] == ["# a comment", "# Interrupt "]
    assert not inbox.until("# interrupt")()
