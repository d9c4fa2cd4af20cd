"""A part of a run as a process: ``python -m pyengine.train.loop.part NAME FOLDER``.

Under a supervisor it reads standard input: the line ``finish`` asks it to finish its work, and end
of file (even if the supervisor crashes) to stop immediately but cleanly.
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


def _follow_input(part: Part) -> None:
    for line in sys.stdin:
        if line.strip() == "finish":
            part.finish()
    part.stop()


def outcome(
    name: str,
    folder: RunFolder,
    ready: Callable[[Part], None],
    work: Callable[[Part], None] | None = None,
) -> tuple[int, str]:
    """Run a part to its end; return 0, 1 or :data:`PERMANENT`, and the error message.

    The arguments are those of :func:`~pyengine.train.loop.parts.run_part`.
    """
    try:
        run_part(name, folder, ready, work)
    except EngineError as error:
        permanent = isinstance(error, ConfigError | DataError)
        return PERMANENT if permanent else 1, f"{type(error).__name__}: {error}"
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
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: part.stop())
        if given.watched:
            threading.Thread(target=_follow_input, args=(part,), daemon=True).start()

    status, message = outcome(given.name, RunFolder(given.folder), ready)
    if status:
        print(message, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
