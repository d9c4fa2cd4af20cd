"""Run the ``pyengine`` command in this process, without a terminal."""

from __future__ import annotations

import contextlib
import io
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

import pytest

pytest.importorskip("typer", reason="the extra cli is not installed")

from pyengine.cli import main


@dataclass(frozen=True)
class Done:
    """The exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """The message on stderr as one line, without typer's box."""
        return " ".join(self.err.replace("│", " ").split())


def run(*arguments: object, typed: str = "") -> Done:
    out, err = io.StringIO(), io.StringIO()
    with (
        restored_signals(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO(typed)),
    ):
        status = main(list(map(str, arguments)))
    return Done(status, out.getvalue(), err.getvalue())


def printed(*arguments: object) -> str:
    """Run a command that must succeed; return its output."""
    done = run(*arguments)
    assert (done.status, done.err) == (0, "")
    return done.out


def command_of(*words: str) -> str:
    """Return program and arguments as one string, as a player of a match takes them."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


@contextlib.contextmanager
def restored_signals() -> Iterator[None]:
    """Restore the signal handlers that the command replaces."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
               if hasattr(signal, name)]  # fmt: skip
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
