"""Runs programs that send themselves Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import textwrap


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
