"""The entry point of the ``pyengine`` command.

It is a separate package so that Ctrl-C is handled while ``pyengine`` is still being imported.
"""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status; see :func:`pyengine.cli.main`."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # not ignored, as in a background job
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process without a traceback
    from pyengine.cli import main as command_line

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line()
