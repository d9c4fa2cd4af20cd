"""Finds processes of a test run that are still alive."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: Environment variable that a test run sets and its processes inherit.
RUN_MARK = "PYENGINE_TEST_RUN"

#: Helper processes of Python, which end with their parent.
_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def _marked(mark: str) -> dict[int, str]:
    """Return the command lines of other processes with a mark (Linux only)."""
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")  # empty for a zombie
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
        except OSError:  # has exited, or belongs to another user
            continue
        if any(helper in command for helper in _HELPERS) or int(folder.name) == os.getpid():
            continue
        if f"{RUN_MARK}={mark}".encode() in variables:
            commands[int(folder.name)] = command
    return commands


def left_processes(mark: str, *, patience: float) -> dict[int, str]:
    """Return {pid: command line} of processes that do not end within ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while (left := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
