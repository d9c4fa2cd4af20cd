"""Processes that a test run started and that are still alive."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: Variable of the environment that a test run sets and its processes inherit.
RUN_MARK = "PYENGINE_TEST_RUN"

#: Processes of Python's own that end with the one that started them.
_PYTHONS_OWN = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def _marked(mark: str) -> dict[int, str]:
    """The command lines of living processes with this mark, but for this one; Linux only.

    A process has the mark if it, or what it was forked from, was started after the mark was set.
    """
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")  # empty for a zombie
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
        except OSError:  # it ended, or belongs to another user
            continue
        if any(own in command for own in _PYTHONS_OWN) or int(folder.name) == os.getpid():
            continue
        if f"{RUN_MARK}={mark}".encode() in variables:
            found[int(folder.name)] = command
    return found


def left_processes(mark: str, *, patience: float) -> dict[int, str]:
    """Return {process id: command line} of what does not end within ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while (found := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
