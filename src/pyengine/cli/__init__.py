"""The command ``pyengine``. It needs the extra ``cli``; the library does not."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from pyengine.errors import EngineError

__all__ = ["main"]

_EXTRA = frozenset(("typer", "rich"))
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_TERMINATED = 143  # 128 + SIGTERM


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status.

    0: done; 1: an error of the engine, one line on stderr, or a self-test that failed; 2: wrong
    use; 130: Ctrl-C.
    """
    try:
        return _run(args)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not spoil the tidying
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader left: `pyengine ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        _show_cursor()


def _run(args: Sequence[str] | None) -> int:
    try:
        from pyengine.cli.app import app
        from pyengine.cli.common import complain
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        print(
            f"pyengine: the command line needs the package {error.name}: "
            "pip install 'pyengine-search[cli]'",
            file=sys.stderr,
        )
        return 1
    signal.signal(signal.SIGTERM, _terminate)
    try:
        status = app(args=args, prog_name="pyengine", standalone_mode=True)
    except SystemExit as stop:
        status = stop.code
    except EngineError as error:
        complain(str(error))
        return 1
    except MemoryError:
        complain("the memory does not suffice: expected room for these settings, found none")
        return 1
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    if isinstance(status, str):
        print(status, file=sys.stderr)
        return 1
    sys.stdout.flush()
    return int(status or 0)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what hid the cursor shows it again."""
    raise SystemExit(_TERMINATED)


def _show_cursor() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream.isatty() and os.environ.get("TERM") != "dumb":
                stream.write("\x1b[?25h")
                stream.flush()
        except (OSError, ValueError):
            continue
