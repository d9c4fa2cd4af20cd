"""``pyengine gtp`` as a process."""

from __future__ import annotations

import re
import subprocess
import sys

LINES = (
    "name\n1 boardsize 5\ngenmove_analyze b 1000\nloadsgf absent\nkata-analyze 1"  # then the end
)
OUTPUT = r"= KataGo\n\n=1\n\n=\ninfo move [^\n]+\nplay \w\d\n\n\? cannot load file\n\n=\n\n"


def test_standard_output_carries_the_protocol_alone():
    options = ["--name", "KataGo", "-n", "5", "-m", "uniform"]
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", "gtp", *options],
        input=LINES, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert re.fullmatch(OUTPUT, done.stdout)
    assert "is played by uniform" in done.stderr
