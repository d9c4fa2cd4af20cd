"""Output of the commands in a terminal of 80 columns, and what its words say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import Terminal

pytest.importorskip("typer", reason="the extra cli is not installed")
from pyengine.cli import train as train_command
from pyengine.train import RunReport
from pyengine.train.loop.run import RunProgress
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best

_CODE = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")
_WIDE = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


def printed(*arguments: str) -> str:
    """What a command prints into a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "pyengine", *arguments],
        capture_output=True, text=True, timeout=120, check=True, env={**os.environ, **_WIDE},
    ).stdout  # fmt: skip


def too_wide(text: str) -> list[str]:
    """Lines of a terminal of more than 80 columns, records' paths left out."""
    printed = [_CODE.sub("", line).rstrip("\r") for line in text.split("\n")]
    lines = [line.rpartition("\r")[2] for line in printed]  # what is left of progress
    return [line for line in lines if len(line) > 80 and not line.startswith("record: ")]


def test_a_game_in_a_terminal_is_no_wider_than_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    arguments = ("go(board_size=5)", "--model", "rollout", "--simulations", "600")
    with Terminal("play", *arguments, **_WIDE) as terminal:
        seen = terminal.wait_for(" move: ")
        for typed in ("zz", "c3", "c3", "moves", "hint", "load missing.sgf", "help"):
            terminal.send(f"{typed}\n")
            seen = terminal.wait_for(" move: ", seen)
        terminal.send("quit\n")
        assert terminal.end() == 0
    assert "engine plays " in terminal.text
    assert too_wide(terminal.text) == []
    assert "expected a file, found no missing.sgf" in " ".join(terminal.text.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "othello", "--model", "rollout", "--simulations", "5000"),
        ("search", "go", "--simulations", "100"),
        ("solve", "othello(board_size=4)"),
        ("doctor",),
        ("bench", "tree", "--quick"),
    ],
)
def test_a_command_in_a_terminal_is_no_wider_than_it(arguments: tuple[str, ...]) -> None:
    with Terminal(*arguments, **_WIDE) as terminal:
        assert terminal.end() == 0
    unbroken = [line for line in too_wide(terminal.text) if " " in line.strip()]
    assert unbroken == []  # a path alone stays whole
    assert _CODE.search(terminal.text) is None  # a terminal that is dumb


def test_in_a_pipe_a_line_stays_a_line() -> None:
    text = printed("search", "othello", "--model", "rollout", "--simulations", "5000")
    assert re.search(r"^speed 5,000 simulations in .*, ended by simulations$", text, re.MULTILINE)


def test_games_are_listed_within_the_columns() -> None:
    text = printed("games")
    assert too_wide(text) == []
    assert "\n    rows (int in [1, 63], default 6): of the board" in text
    assert "connect_four: four stones or more in a row win; a stone falls to the" in text


def test_where_many_moves_are_legal_a_wrong_one_does_not_list_them() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", "play", "gomoku", "--human", "both", "-m", "uniform"],
        input="zz\n", capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "type moves for the legal ones, or help" in done.stdout
    assert "legal moves:" not in done.stdout


def test_moves_without_a_visit_are_told_where_priors_are_equal() -> None:
    few = printed("search", "gomoku", "--model", "rollout", "--simulations", "100")
    assert "of 225 moves have no visit" in few
    enough = printed("search", "tic_tac_toe", "--model", "rollout", "--simulations", "500")
    assert "no visit" not in enough


@pytest.mark.parametrize(
    ("game", "moves", "words"),
    [
        ("connect_four", "4 1 4 1 4 1", "a win for Red (X)"),
        ("connect_four", "4 4 3 3 5", "a loss for Yellow (O)"),
        ("tic_tac_toe", "", "a draw"),
        ("pyspiel:connect_four", "x3 o0 x3 o0 x3 o0", "a win for the first player"),
    ],
)
def test_a_solved_value_says_whose_it_is(game: str, moves: str, words: str) -> None:
    if game.startswith("pyspiel"):
        pytest.importorskip("pyspiel")
    text = printed("solve", game, "--moves", moves)
    assert f"value  {words}\n" in text


def test_the_strength_of_a_network_is_told_in_words() -> None:
    text = printed("search", "connect_four", "--simulations", "10")
    assert re.search(r"^about .*: won 366, drew 63, lost 171$", text, re.MULTILINE)


def progress(best: Best | None, step: int = 0) -> RunProgress:
    """How far a run is."""
    return RunProgress(
        seconds=66.0, games=20, positions=400, positions_per_second=9.0, step=step, policy=None,
        value=None, best=best, window=0, gate="", restarts=0, finishing=False,
    )  # fmt: skip


def network(step: int) -> Best:
    """A best network of a run."""
    return Best(name="candidate.onnx", sha256="0", step=step, generation=step, elo=0.0)


def test_a_run_in_which_no_network_got_better_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for best in (network(0), network(1)):
        report = RunReport(reason="minutes", progress=progress(best, 2), folder=tmp_path)
        train_command._print(report, as_json=False)
    first, second = capsys.readouterr().out.split("candidate.onnx\n")[:2]
    assert first.startswith("the limit of minutes is reached: 20 games")
    assert "no candidate has passed the gate: the best network is the first" in first
    assert "generation 1, +0 Elo" in second


def test_a_learner_that_waits_says_for_how_many_positions() -> None:
    run = RunFile.from_toml('[game]\nname = "connect_four"\n[window]\nminimum_positions = 1234\n')
    facts = dict(train_command._facts(progress(network(0)), run))
    assert "begins with 1,234 positions of full searches" in facts["learner"]
    assert "begins" not in dict(train_command._facts(progress(network(0), 1), run))["learner"]
