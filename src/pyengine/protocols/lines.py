"""The two streams of a protocol: lines read in the background, lines written at once."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

_CHUNK = 65536  # bytes
_LONGEST_LINE = 16 << 20  # bytes; the rest of a longer line is dropped
_POLL = 0.5  # seconds between two checks for Ctrl-C, which a blocked thread misses on Windows


class Lines:
    """Lines of input, read by a background thread so that a search notices the next one.

    Args:
        read: returns the next bytes as soon as there are some, and ``b""`` at the end.

    Lines end with LF or CRLF and are returned without their ends; bytes that are not UTF-8 are
    replaced. A last line without an end counts.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._ended = False
        threading.Thread(target=self._fill, name="pyengine-input", daemon=True).start()

    def read(self) -> str | None:
        """Wait for the next line and return it; None at the end of the input."""
        while not self._ended:
            try:
                line = self._queue.get(timeout=_POLL)
            except queue.Empty:
                continue
            self._ended = line is None
            return line
        return None

    def waiting(self) -> bool:
        """Return whether :meth:`read` would return at once, with a line or the end."""
        return self._ended or not self._queue.empty()

    def _fill(self) -> None:
        rest = b""
        while chunk := self._next_chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._put(line)
            rest = rest[:_LONGEST_LINE]
        if rest:
            self._put(rest)
        self._queue.put(None)

    def _next_chunk(self) -> bytes:
        try:
            return self._read()
        except (OSError, ValueError):  # the stream was closed
            return b""

    def _put(self, line: bytes) -> None:
        self._queue.put(line[:_LONGEST_LINE].decode("utf-8", "replace").rstrip("\r"))


class Output:
    """Lines of output; each call writes a whole message, from any thread.

    Raises:
        BrokenPipeError: the client has gone.

    """

    def __init__(self, stream: BinaryIO, newline: str = "\n") -> None:
        self._stream, self._newline = stream, newline
        self._lock = threading.Lock()

    def write(self, message: str) -> None:
        """Write one or more lines; the last end is added."""
        text = f"{message}\n".replace("\n", self._newline)
        with self._lock:
            self._stream.write(text.encode())
            self._stream.flush()


def standard_streams(newline: str = "\n") -> tuple[Lines, Output]:
    """Return standard input and output for a protocol alone.

    From then on whatever else prints, in Python or in a library, goes to stderr.
    """
    sys.stdout.flush()
    client = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Not sys.stdin: at exit, Python would wait for its lock, which the reading thread holds.
    return Lines(lambda: os.read(0, _CHUNK)), Output(client, newline)


def silence_merged_stderr() -> None:
    """Drop what is written to stderr if the client reads it among the protocol's lines.

    Some clients, such as Piskvork, give both streams the same pipe.
    """
    if not os.isatty(2) and os.path.samestat(os.fstat(1), os.fstat(2)):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def log(message: str) -> None:
    """Write a message for the person who reads the client's log."""
    print(f"pyengine: {message}", file=sys.stderr, flush=True)
