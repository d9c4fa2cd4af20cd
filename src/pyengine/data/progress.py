"""Progress of long tasks, for a callback or on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

#: ``on_progress(done, total)``, called after each part.
OnProgress: TypeAlias = Callable[[int, int], object]

_T = TypeVar("_T")

_EVERY = 0.1  # seconds between updates of a terminal


def tracked(
    parts: Iterable[_T], total: int, what: str, on_progress: OnProgress | None
) -> Iterator[_T]:
    """Yield the parts and report progress to ``on_progress``, or else to stderr on a terminal."""
    shows = on_progress is None and sys.stderr.isatty()
    shown = -1.0
    try:
        for done, part in enumerate(parts, 1):
            yield part
            if on_progress is not None:
                on_progress(done, total)
            elif shows and (time.monotonic() - shown >= _EVERY or done == total):
                shown = time.monotonic()
                print(f"\r\x1b[K{what}: {done} of {total}", end="", file=sys.stderr, flush=True)
    finally:
        if shows:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
