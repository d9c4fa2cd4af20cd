"""What the command ``pyengine`` starts: the command line of the package ``pyengine``.

It stands beside that package because Ctrl-C may come while Python imports it, before any of its
code can answer.
"""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status; see :func:`pyengine.cli.main`."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # it is not ignored, as it may be in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process without a traceback
    from pyengine.cli import main as command_line

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line()
