"""``pyengine gomocup``, ``nboard`` and ``ugi`` as programs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="the extra cli is not installed")

QUICK = ["--model", "uniform", "--simulations", "20", "--threads", "1"]


@pytest.mark.parametrize(
    ("command", "given", "replies"),
    [
        (
            ["nboard", "--name", "my engine"],
            "nboard 2\nping 1\nhint 1\nquit\n",
            r"set myname my_engine\npong 1\nstatus .+\nsearch .+\nnodestats .+\nstatus\n",
        ),
        (
            ["ugi", "connect_four"],
            "position startpos moves 4\r\nquery p1turn\r\ngo",
            r"response false\ninfo .+\nbestmove \d\n",
        ),
    ],
)
def test_stdout_carries_the_protocol_alone(command: list[str], given: str, replies: str):
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", *command, *QUICK],
        input=given.encode(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert re.fullmatch(replies, done.stdout.decode()), done.stdout
    assert b"is played by uniform" in done.stderr


def test_gomocup_writes_nothing_else_where_a_manager_merges_the_streams():
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", "gomocup", *QUICK],
        input=b"START 7\r\nTURN 1,1\r\nEND\r\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=True,
    )
    assert re.fullmatch(rb"OK\r\nMESSAGE .+\r\n\d,\d\r\n", done.stdout), done.stdout
