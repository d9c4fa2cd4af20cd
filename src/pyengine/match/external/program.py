"""A program that is asked over its standard input: :class:`Program`."""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from pyengine.base.checks import printable, shortened
from pyengine.errors import ConfigError, EngineError

_STDERR_LINES = 3  # shown after a failure
_POLL = 0.5  # seconds between two checks for Ctrl-C, which a blocked thread misses on Windows
_TO_QUIT = 2.0  # seconds that a program has to exit by itself


class NoAnswerError(EngineError):
    """A program did not answer in time."""


class EndedError(EngineError):
    """A program has ended."""


class Program:
    """A running program that reads and writes lines.

    Args:
        command: program and arguments, as a shell would split them; no shell runs.
        timeout: maximum seconds for an answer.
        newline: the end of each line written.

    Raises:
        ConfigError: the program cannot be started.

    """

    def __init__(self, command: str, timeout: float, newline: str = "\n") -> None:
        self.command = command
        self._timeout = timeout
        self.newline = newline
        self._process = _start(command)
        self._kill = weakref.finalize(self, _kill, self._process)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._errors: deque[str] = deque(maxlen=_STDERR_LINES)
        self._all_errors = threading.Event()  # stderr has ended
        lines = self._lines
        _read(self._process.stdout, lines.put, lambda: lines.put(None))
        _read(self._process.stderr, self._errors.append, self._all_errors.set)

    def write(self, line: str, seconds: float | None = None) -> None:
        """Write a line, whose whole answer is due within ``seconds``; None = the ``timeout``.

        Raises EndedError.
        """
        self._limit = self._timeout if seconds is None else min(seconds, self._timeout)
        self._deadline = time.monotonic() + self._limit
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}{self.newline}".encode())
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None

    def read(self) -> str:
        """Return the next line of the answer to the last line written.

        Raises:
            NoAnswerError: it did not come in time; the program is killed.
            EndedError: the program has ended.

        """
        while (wait := self._deadline - time.monotonic()) > 0:
            with suppress(queue.Empty):
                line = self._lines.get(timeout=min(wait, _POLL))
                if line is None:
                    raise self._ended()
                return line
        self._kill()
        raise NoAnswerError(str(self.error(f"no answer within {self._limit:g} seconds")))

    def error(self, reason: str) -> EngineError:
        """Return an error that names the program, with the end of its standard error."""
        words = " | ".join(printable(line.strip()) for line in list(self._errors))
        tail = f"; the end of its stderr: {words}" if words else ""
        return EngineError(f"{shortened(self.command)}: {reason}{tail}")

    def _ended(self) -> EndedError:
        self._lines.put(None)  # for the next reader
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TO_QUIT)
        self._all_errors.wait(_TO_QUIT)
        status = self._process.returncode
        how = "" if status is None else f" with status {status}"
        return EndedError(str(self.error(f"ended{how}")))

    def close(self, farewell: str = "") -> None:
        """End the program; after ``farewell`` it has two seconds to exit by itself."""
        if farewell and self._kill.alive:
            with suppress(EngineError, subprocess.TimeoutExpired):
                self.write(farewell)
                self._process.wait(_TO_QUIT)
        self._kill()


def check_installed(command: str) -> None:
    """Raise ConfigError if the program of a command is not installed."""
    words = _split(command)
    if not words:
        raise ConfigError("command: expected a program and its arguments, got nothing")
    if shutil.which(words[0].strip('"')) is None:
        raise ConfigError(f"the program {printable(words[0])} does not exist or is not on the PATH")


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=sys.platform != "win32")
    except ValueError as error:
        raise ConfigError(f"command: {printable(command)}: {error}") from error


def _start(command: str) -> subprocess.Popen[bytes]:
    check_installed(command)
    # In a group of its own, so that Ctrl-C goes to this process alone, which ends the program.
    if sys.platform == "win32":
        arguments: str | list[str] = command
        flags, group = subprocess.CREATE_NEW_PROCESS_GROUP, None
    else:
        arguments, flags, group = _split(command), 0, 0
    try:
        return subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=flags,
            process_group=group,
        )
    except OSError as error:
        raise ConfigError(f"{shortened(command)}: {error.strerror}") from error


def _read(stream: IO[bytes] | None, add: Callable[[str], None], at_end: Callable[[], None]) -> None:
    """Read lines in a thread until the stream ends."""

    def run() -> None:
        assert stream is not None
        with stream, suppress(OSError, ValueError):
            for line in stream:
                add(line.decode("utf-8", "replace").rstrip("\r\n"))
        at_end()

    threading.Thread(target=run, name="pyengine-player", daemon=True).start()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and the programs that it has started."""
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdin is not None
    with suppress(OSError):  # the reading threads close the other two
        process.stdin.close()
