"""The ``pyengine`` command, which requires the extra ``cli``."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from pyengine.base.checks import printable, shortened
from pyengine.errors import ConfigError, EngineError, IllegalActionError

#: Every table fits in this many columns.
LEAST_WIDTH = 60
#: The exit status after Ctrl-C: 128 + SIGINT, as in shells.
INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status.

    0: success; 1: an engine error (one line on stderr) or a failed self-test; 2: wrong usage;
    130: Ctrl-C.
    """
    _open_closed_streams()
    if os.environ.get("COLUMNS") == "0":  # unknown; rich would print nothing
        del os.environ["COLUMNS"]
    try:
        status = _run(args)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe: `pyengine ... | head`
        _discard_output()
        status = 1
    finally:
        _show_cursor()
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the exit
        if sys.stderr.isatty():
            print(file=sys.stderr)
    return status


def _run(args: Sequence[str] | None) -> int:
    try:
        from pyengine.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(
            f"pyengine: the command line requires the package {error.name}: "
            "pip install 'pyengine-search[cli]'",
            file=sys.stderr,
        )
        return 1
    _end_by_signals()
    status = 0
    try:
        try:
            app(args=args, prog_name="pyengine")
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        sys.stdout.flush()
    except (ConfigError, IllegalActionError) as error:
        return _complain(str(error), 2)
    except EngineError as error:
        return _complain_of(error)
    except MemoryError:
        return _complain("out of memory", 1)
    except OSError as error:
        return _os_error(error)
    return status


def _complain_of(error: EngineError) -> int:
    from pyengine.eval.bundled import MisfitError

    if isinstance(error, MisfitError) and error.params:
        options = " ".join(f"-p {name}={value}" for name, value in error.params.items())
        return _complain(f"{error.plays}: add {options}", 2)
    return _complain(str(error), 1)


def _os_error(error: OSError) -> int:
    if isinstance(error, BrokenPipeError) or error.strerror is None:
        raise error
    if error.filename is not None:
        return _complain(f"{shortened(str(error.filename))}: {error.strerror}", 1)
    _discard_output()
    return _complain(f"the output cannot be written: {error.strerror}", 1)


def _complain(message: str, status: int) -> int:
    """Print a one-line error on stderr and return the exit status."""
    from rich.text import Text

    from pyengine.cli.output import console

    text = printable(" ".join(in_names(message).split()))
    console(stderr=True).print(Text(f"error: {text}", style="bold red"))
    return status


def in_names(message: str) -> str:
    """Replace the numbers of moves and players in an error of the engine by names."""
    message = re.sub(r"\baction -?\d+ \((.+?)\) is not legal for", r"\1 is not legal for", message)
    message = re.sub(r"\baction (?=-?\d+ does not exist)", "move number ", message)
    message = message.replace("player 0 or 1", "the first or the second player")
    for number, name in enumerate(("first", "second")):
        message = re.sub(rf"\bplayer {number}\b", f"the {name} player", message)
    return message


def _discard_output() -> None:
    """Redirect stdout to the null device, so that buffered output is not written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Open closed standard streams (``pyengine ... >&-``) on the null device.

    Otherwise the next file opened gets the stream's descriptor, and its output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _end_by_signals() -> None:
    """Exit cleanly on SIGTERM, and on SIGHUP unless it is ignored (nohup)."""
    signal.signal(signal.SIGTERM, _terminate)
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:
        signal.signal(hang_up, _terminate)


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _show_cursor() -> None:
    """Show the cursor, in case a signal left it hidden."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream.isatty() and os.environ.get("TERM") != "dumb":
                print("\x1b[?25h", end="", file=stream, flush=True)
