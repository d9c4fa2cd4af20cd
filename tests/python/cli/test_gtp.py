"""``pyengine gtp`` as a process."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyengine
from pyengine.cli.gtp import first_session
from pyengine.cli.options import EvaluatorOptions, SearchOptions

LINES = "name\n1 boardsize 5\ngenmove_analyze b 1000\nloadsgf absent\nkata-analyze 1"
OUTPUT = r"= KataGo\n\n=1\n\n=\ninfo move [^\n]+\nplay \w\d\n\n\? cannot load file\n\n=\n\n"


def test_standard_output_carries_the_protocol_alone():
    options = ["--name", "KataGo", "-n", "5", "-m", "uniform"]
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", "gtp", *options],
        input=LINES, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert re.fullmatch(OUTPUT, done.stdout)
    assert "is played by uniform" in done.stderr


@pytest.mark.parametrize(
    ("game", "model", "board"),
    [
        (None, "uniform", (19, 19)),
        (None, "go7", (7, 7)),
        (None, "connect4", (6, 7)),
        (None, "own.onnx", (9, 9)),
        ("othello", None, (8, 8)),
    ],
)
def test_the_first_board_is_one_that_the_network_plays(
    game: str | None,
    model: str | None,
    board: tuple[int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(pyengine.bundled_models()["go9"], "own.onnx")
    session = first_session(game, None, EvaluatorOptions(model=model), SearchOptions())
    assert session.game.board_shape == board
    session.close()
