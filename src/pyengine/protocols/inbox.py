"""Commands that wait, and those that are obeyed while a search runs."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping

from pyengine.protocols.lines import Lines
from pyengine.protocols.words import first_word

_PATIENCE = 0.5  # seconds


class Inbox:
    """The client's lines in order; a search may look ahead without losing any."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._ahead: deque[str | None] = deque()
        self._texts: Counter[str] = Counter()  # first words, and whole lines, of the lines ahead

    def read(self) -> str | None:
        """Wait for the next line and return it; None at the end of the input."""
        if not self._ahead:
            return self._lines.read()
        line = self._ahead.popleft()
        self._texts.subtract(_texts(line))
        return line

    def waiting(self) -> bool:
        """Return whether :meth:`read` would return at once, with a line or the end."""
        return bool(self._ahead) or self._lines.waiting()

    def until(
        self,
        *ends: str,
        leaving: str | None = None,
        at_end: bool = False,
        **answered: Callable[[], object],
    ) -> Callable[[], bool]:
        """Return a function that says whether a line that arrived ends the search.

        Args:
            *ends: first words, or whole lines, in lower case, that end a search; these lines stay
                to be read.
            leaving: the first word of the line that ends the dialogue. It ends a search after half
                a second, so that a script may send it early.
            at_end: whether the end of the input also does.
            **answered: functions by the first word of the lines that they answer at once.

        All other lines wait until the search is over.
        """
        patient_until = time.monotonic() + _PATIENCE

        def is_over() -> bool:
            self._look_ahead(answered)
            leaves = self._has(leaving) or (
                at_end and bool(self._ahead) and self._ahead[-1] is None
            )
            return any(map(self._has, ends)) or (leaves and time.monotonic() > patient_until)

        return is_over

    def _has(self, word: str | None) -> bool:
        return word is not None and self._texts[word] > 0

    def _look_ahead(self, answered: Mapping[str, Callable[[], object]]) -> None:
        while self._lines.waiting() and not (self._ahead and self._ahead[-1] is None):
            line = self._lines.read()
            word = first_word(line)
            if word in answered:
                answered[word]()
            else:
                self._ahead.append(line)
                self._texts.update(_texts(line))


def _texts(line: str | None) -> set[str]:
    return {first_word(line), (line or "").strip().lower()}
