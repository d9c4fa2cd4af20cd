"""The command ``pyengine``. It needs the extra ``cli``; the library does not."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from pyengine.errors import EngineError

__all__ = ["LEAST_WIDTH", "main"]

#: Columns that every table has room in.
LEAST_WIDTH = 60

_EXTRA = frozenset(("typer", "rich"))
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of the standard output
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_SIGNALLED = 128  # and the number of the signal


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status.

    0: done; 1: an error of the engine, one line on stderr, or a self-test that failed; 2: wrong
    use; 130: Ctrl-C.
    """
    _open_closed_streams()
    _widen()
    try:
        return _run(args)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not spoil the tidying
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader left: `pyengine ... | head`
        _leave_output()
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
    _end_by_signals()
    try:
        status = _status(app, args)
        sys.stdout.flush()
    except EngineError as error:
        complain(str(error))
        return 1
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            complain("expected the name of a file, found one that is too long")
            return 1
        if error.filename is not None:
            complain(f"{error.filename}: {error.strerror}")
            return 1
        if error.errno not in _NO_ROOM:
            raise
        complain(f"the output cannot be written: {error.strerror}")
        _leave_output()
        return 1
    except MemoryError:
        complain("the memory does not suffice: expected room for these settings, found none")
        return 1
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    if isinstance(status, str):
        print(status, file=sys.stderr)
        return 1
    return status if isinstance(status, int) else 0


def _status(app: Callable[..., object], args: Sequence[str] | None) -> object:
    try:
        return app(args=args, prog_name="pyengine", standalone_mode=True)
    except SystemExit as stop:
        return stop.code


def _leave_output() -> None:
    """Let what is still to be written go nowhere, so that the end of the program writes it not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Let streams that were closed (``pyengine ... >&-``) lead nowhere.

    Without that a file that is opened later gets the number of a stream, and what is meant for it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _widen() -> None:
    """Correct a COLUMNS that is too small for a table: none of it would be shown."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) < LEAST_WIDTH:
        os.environ["COLUMNS"] = str(LEAST_WIDTH) if int(told) else ""  # "": the terminal's own


def _end_by_signals() -> None:
    """Let SIGTERM and the end of the terminal (SIGHUP, unless it is ignored) end as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _terminate)
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:  # not under nohup
        signal.signal(hang_up, _terminate)


def _terminate(number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what hid the cursor shows it again."""
    raise SystemExit(_SIGNALLED + number)


def _show_cursor() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream.isatty() and os.environ.get("TERM") != "dumb":
                stream.write("\x1b[?25h")
                stream.flush()
        except (OSError, ValueError):
            continue
