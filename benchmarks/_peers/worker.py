"""A peer in a subprocess that answers each input line with one output line."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from .environment import PeerError, last_words

#: Seconds without output after which a peer is abandoned.
PATIENCE = 600.0


class Worker:
    """A running program. Closing it kills the process."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
        with_errors: bool = False,
    ) -> None:
        """Start the program.

        Args:
            words: the program and its arguments.
            environment: environment variables. None = inherit ours.
            with_errors: also read its stderr.
        """
        self._name = str(words[0])
        self._errors: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [str(word) for word in words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if with_errors else self._errors,
                text=True,
                errors="replace",
                bufsize=1,
                env=None if environment is None else dict(environment),
            )
        except OSError as error:
            self._errors.close()
            raise PeerError(f"{self._name}: {error}") from error
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def tell(self, line: str) -> None:
        """Send a line. Raises PeerError if the process has exited."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PeerError(self._end()) from error

    def line(self) -> str:
        """Return the next output line. Raises PeerError if the process exits or times out."""
        try:
            found = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise PeerError(f"{self._name}: no answer within {PATIENCE:g} s") from None
        if found is None:
            raise PeerError(self._end())
        return found

    def ask(self, line: str) -> str:
        """Send a line and return the answer."""
        self.tell(line)
        return self.line()

    def _end(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        return f"{self._name}: ended with status {status}: {last_words(self._errors.read())}"

    def cpu_seconds(self) -> float:
        """Return the processor time used. 0 if the system does not report it."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return 0.0
        # The name in parentheses may contain anything. User and system time are among the fields
        # after it.
        words = stat.read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Kill the process."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has already exited
                self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
