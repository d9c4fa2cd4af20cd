"""Commands that wait, and those that are obeyed while a search runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from pyengine.protocols.lines import Lines
from pyengine.protocols.words import first_word

_PATIENCE = 0.5  # seconds


class Inbox:
    """The client's lines in order; a search may look ahead without losing any."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._ahead: deque[str | None] = deque()

    def read(self) -> str | None:
        """Wait for the next line and return it; None at the end of the input."""
        return self._ahead.popleft() if self._ahead else self._lines.read()

    def until(
        self,
        *ends: str,
        leaving: str | None = None,
        at_end: bool = False,
        **answered: Callable[[], object],
    ) -> Callable[[], bool]:
        """Return a function that says whether a line that arrived ends the search.

        Args:
            *ends: first words, in lower case, of lines that end a search; they stay to be read.
            leaving: the first word of the line that ends the dialogue. It ends a search after half
                a second, so that a script may send it early.
            at_end: whether the end of the input also does.
            **answered: functions by the first word of the lines that they answer at once.

        All other lines wait until the search is over.
        """
        patient_until = time.monotonic() + _PATIENCE

        def is_over() -> bool:
            self._look_ahead()
            kept: deque[str | None] = deque()
            words = set()
            for line in self._ahead:
                words.add(word := first_word(line))
                if word in answered:
                    answered[word]()
                else:
                    kept.append(line)
            self._ahead = kept
            leaves = leaving in words or (at_end and None in kept)
            return not words.isdisjoint(ends) or (leaves and time.monotonic() > patient_until)

        return is_over

    def _look_ahead(self) -> None:
        while self._lines.waiting() and None not in self._ahead:
            self._ahead.append(self._lines.read())
