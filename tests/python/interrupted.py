"""Interruptions: a signal after a delay, and programs that send themselves Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator


class AlarmError(Exception):
    """Raised by a signal handler, as KeyboardInterrupt is for Ctrl-C."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise AlarmError from a signal handler after a delay."""

    def ring(*_: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def output_of(code: str) -> str:
    """Run a program for at most a minute and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
