"""Run the command in a pseudo-terminal."""

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

# Makes the terminal its controlling terminal, so that Ctrl-C reaches it, and runs the command.
_CHILD = (
    "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "from pyengine.cli import main; sys.exit(main())"
)
_PATIENCE = 60  # seconds


class Terminal:
    """Runs ``pyengine`` in a terminal; ``text`` is its output so far."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, b"\x28\x00\x78\x00\x00\x00\x00\x00")  # 40 x 120
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        defaults = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *arguments],
            stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, env={**inherited, **defaults, **environment},
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
        os.write(self.master, keys.encode())

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.text += self.decoder.decode(os.read(self.master, 65536))
        return bool(ready)

    def wait_for(self, words: str, after: int = 0) -> int:
        """Read until some words are written; return the position after them."""
        end = time.monotonic() + _PATIENCE
        while words not in self.text[after:]:
            assert time.monotonic() < end, f"no {words!r} in {self.text!r}"
            assert self.process.poll() is None or self._read(0.1), f"ended: {self.text!r}"
            self._read(0.1)
        return self.text.index(words, after) + len(words)

    def end(self) -> int:
        """Read until the command ends; return its exit status."""
        end = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"the command does not end: {self.text!r}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    def is_clean(self) -> bool:
        """Return whether modes and cursor are restored and there is no traceback."""
        cursor = self.text.rfind("\x1b[?25h") >= self.text.rfind("\x1b[?25l")
        modes: list[Any] = termios.tcgetattr(self.slave)
        return cursor and modes == self.before and "Traceback" not in self.text
