"""A part of a run as a process: ``python -m pyengine.train.loop.part NAME FOLDER``.

A part that a supervisor started reads its standard input: the line ``finish`` asks it to end what
it is at, the end of the input (also when the supervisor dies) to stop at once, cleanly.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from pyengine.errors import ConfigError, DataError, EngineError
from pyengine.train.loop.parts import PARTS, PERMANENT, Part, run_part
from pyengine.train.loop.state import RunFolder

__all__ = ["main", "outcome"]


def _watch(part: Part) -> None:
    """Follow the standard input, in a thread."""

    def follow() -> None:
        for line in sys.stdin:
            if line.strip() == "finish":
                part.finish()
        part.stop()

    threading.Thread(target=follow, daemon=True).start()


def _obey_signals(part: Part) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: part.stop())


def outcome(
    name: str,
    folder: RunFolder,
    ready: Callable[[Part], None],
    work: Callable[[Part], None] | None = None,
) -> tuple[int, str]:
    """Run a part to its end; return 0, 1 or :data:`PERMANENT`, and what went wrong.

    Arguments as of :func:`~pyengine.train.loop.parts.run_part`.
    """
    try:
        run_part(name, folder, ready, work)
    except (ConfigError, DataError) as error:
        return PERMANENT, f"{type(error).__name__}: {error}"
    except EngineError as error:
        return 1, f"{type(error).__name__}: {error}"
    except Exception:
        return 1, traceback.format_exc()
    return 0, ""


def main(args: Sequence[str] | None = None) -> int:
    """Run a part and return the exit status: 0, 1, or :data:`PERMANENT`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PARTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--watched", action="store_true", help="a supervisor holds the input")
    given = parser.parse_args(args)
    logging.basicConfig(level=logging.WARNING)

    def ready(part: Part) -> None:
        _obey_signals(part)
        if given.watched:
            _watch(part)

    status, words = outcome(given.name, RunFolder(given.folder), ready)
    if status:
        print(words, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
