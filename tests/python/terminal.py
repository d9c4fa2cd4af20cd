"""A pseudo-terminal in which the command runs, with Ctrl-C and Ctrl-D as a person types them."""

from __future__ import annotations

import codecs
import os
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

import pytest

pytest.importorskip("termios", reason="no pseudo-terminals on this system")
import fcntl
import pty
import termios

# Takes the terminal as its own, so that Ctrl-C reaches it, and becomes the command.
_CHILD = (
    "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "from pyengine.cli import main; sys.exit(main())"
)
_PATIENCE = 60  # seconds


class Terminal:
    """Runs ``pyengine`` with arguments and variables; ``text`` is what it has written so far."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, b"\x28\x00\x78\x00\x00\x00\x00\x00")  # 40 x 120
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        own = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *arguments],
            stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, env={**inherited, **own, **environment},
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self.master, keys.encode())

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.text += self.decoder.decode(os.read(self.master, 65536))
        return bool(ready)

    def wait_for(self, words: str, after: int = 0) -> int:
        """Read until it has written some words; return where they end."""
        end = time.monotonic() + _PATIENCE
        while words not in self.text[after:]:
            assert time.monotonic() < end, f"{words!r} did not come: {self.text!r}"
            assert self.process.poll() is None or self._read(0.1), f"it ended: {self.text!r}"
            self._read(0.1)
        return self.text.index(words, after) + len(words)

    def end(self) -> int:
        """Read until it ends; return the exit status."""
        end = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end: {self.text!r}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    def is_clean(self) -> bool:
        """Return whether the terminal is as before: modes, cursor, no traceback."""
        cursor = self.text.rfind("\x1b[?25h") >= self.text.rfind("\x1b[?25l")
        modes: list[Any] = termios.tcgetattr(self.slave)
        return cursor and modes == self.before and "Traceback" not in self.text
