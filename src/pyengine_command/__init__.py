"""The entry points of the ``pyengine`` command and of ``pbrain-pyengine``.

It is a separate package so that Ctrl-C is handled while ``pyengine`` is still being imported.
"""

from __future__ import annotations

import signal
import sys

__all__ = ["main", "pbrain"]


def main() -> int:
    """Run the command line and return its exit status; see :func:`pyengine.cli.main`."""
    return _run(sys.argv[1:])


def pbrain() -> int:
    """Run ``pyengine gomocup``, for managers that start a program by its file alone."""
    return _run(["gomocup", *sys.argv[1:]])


def _run(arguments: list[str]) -> int:
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # not ignored, as in a background job
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process without a traceback
    from pyengine.cli import main as command_line

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line(arguments)
