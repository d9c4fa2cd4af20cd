"""The command ``pyengine`` in this process, without a terminal."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

import pytest

pytest.importorskip("typer", reason="the extra cli is not installed")

from pyengine.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """The message on stderr in one line, without the box that typer draws."""
        return " ".join(self.err.replace("│", " ").split())


def run(*arguments: object, typed: str = "") -> Done:
    """Run a command."""
    out, err = io.StringIO(), io.StringIO()
    with (
        signals_kept(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO(typed)),
    ):
        status = main(list(map(str, arguments)))
    return Done(status, out.getvalue(), err.getvalue())


def printed(*arguments: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = run(*arguments)
    assert (done.status, done.err) == (0, "")
    return done.out


@contextlib.contextmanager
def signals_kept() -> Iterator[None]:
    """Restore what the command does on signals, which is for a process of its own."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
               if hasattr(signal, name)]  # fmt: skip
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
