"""Commands that wait, and those that are obeyed while a search runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pyengine.protocols.lines import Lines
from pyengine.protocols.words import first_word


class Inbox:
    """The client's lines in order; a search may look ahead without losing any."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._ahead: deque[str | None] = deque()

    def read(self) -> str | None:
        """Wait for the next line and return it; None at the end of the input."""
        return self._ahead.popleft() if self._ahead else self._lines.read()

    def until(
        self, *ends: str, at_end: bool = False, **answered: Callable[[], object]
    ) -> Callable[[], bool]:
        """Return a function that says whether a line that arrived ends the search.

        Args:
            *ends: first words, in lower case, of lines that end a search; they stay to be read.
            at_end: whether the end of the input ends the search too.
            **answered: functions by the first word of the lines that they answer at once.

        All other lines wait until the search is over.
        """

        def is_over() -> bool:
            self._look_ahead()
            kept: deque[str | None] = deque()
            over = False
            for line in self._ahead:
                word = first_word(line)
                if word in answered:
                    answered[word]()
                else:
                    kept.append(line)
                over = over or word in ends or (line is None and at_end)
            self._ahead = kept
            return over

        return is_over

    def _look_ahead(self) -> None:
        while self._lines.waiting() and None not in self._ahead:
            self._ahead.append(self._lines.read())
