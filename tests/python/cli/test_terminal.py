"""The command in a terminal: Ctrl-C, signals, progress, line editing and columns."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commands import restored_signals, run
from pyengine import cli
from pyengine.cli import bench
from pyengine.exact.solver import Solver, SolveResult
from pyengine.games.game import State
from terminal import Terminal

PERSONS = ("--human", "both", "-m", "uniform", "-n", "50", "-t", "1")
LONG = ("-m", "rollout", "--seconds", "100")
_CODE = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")


# --- Ctrl-C and signals


def test_ctrl_c_ends_a_search_and_leaves_a_clean_terminal() -> None:
    with Terminal("search", "connect_four", *LONG) as terminal:
        terminal.wait_for("simulations,")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    progress = terminal.text.rindex("simulations,")
    assert "\x1b[?25l" in terminal.text[:progress], "the progress hides the cursor"
    assert "\x1b[2K" in terminal.text[progress:], "the progress is erased"
    result = " ".join(terminal.text[terminal.text.index("visits") :].split())
    assert "positions evaluated, stopped" in result, "the result so far is printed"


def test_ctrl_c_ends_solve_with_the_best_result_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Solver):
        def solve(self, state: State, *, seconds: Any = None, **settings: Any) -> SolveResult:
            if seconds is None:
                threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
            return super().solve(state, seconds=seconds, **settings)

    monkeypatch.setattr("pyengine.cli.solve.Solver", Interrupted)
    done = run("solve", "connect_four", "--threads", 1)
    assert done.status == 130
    assert re.search(r"exact  no, searched \d+ plies\nbest   \d\nline   \d", done.out)


def test_ctrl_c_ends_tune_with_the_best_settings_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    result = SimpleNamespace(complete=False, to_dict=lambda: {"threads": 2})
    monkeypatch.setattr(bench, "tune", lambda *_arguments, **_settings: result)
    done = run("bench", "--tune", "tic_tac_toe", "--json", "-")
    assert done.status == 130
    assert json.loads(done.out) == {"threads": 2}


@pytest.mark.parametrize(
    ("command", "function", "words"),
    [
        (
            "match go random random --record kept.jsonl",
            "match.play_match",
            "the same command resumes from the games in kept.jsonl",
        ),
        ("match go random random", "match.play_match", "the games are lost; use --record FILE"),
        (
            "selfplay go -m rollout --out games",
            "selfplay.play",
            "the same command adds more games to games",
        ),
    ],
)
def test_ctrl_c_explains_how_to_continue(
    command: str, function: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: Any, **_settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"pyengine.cli.{function}", interrupted)
    done = run(*command.split())
    assert done.status == 130
    assert f"stopped; {words}" in done.words


def test_ctrl_c_ends_a_game_without_a_terminal() -> None:
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    done = run("play", "go", *LONG, "--human", "none")
    assert (done.status, done.err) == (130, "")


def test_a_signal_that_a_shell_ignores_stays_ignored() -> None:
    with restored_signals():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        cli._end_by_signals()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


# --- a game


def test_ctrl_c_stops_a_search_and_twice_at_the_prompt_leaves() -> None:
    with Terminal("play", "connect_four", *LONG) as terminal:
        after = terminal.wait_for("move: ")
        terminal.send("\x03")
        after = terminal.wait_for("continue the game, or leave", after)
        after = terminal.wait_for("move: ", after)
        terminal.send("4\n")
        after = terminal.wait_for("simulations,", after)
        terminal.send("\x03\x03")
        after = terminal.wait_for("stopped: type a move for the engine", after)
        after = terminal.wait_for("Yellow (○) move: ", after)
        terminal.send("1\n")
        after = terminal.wait_for("Red (●) move: ", after)
        terminal.send("\x03")
        after = terminal.wait_for("continue the game, or leave", after)
        after = terminal.wait_for("move: ", after)
        terminal.send("\x03")
        terminal.wait_for("record: ", after)
        assert terminal.end() == 130
        assert terminal.is_clean()


def test_the_prompt_has_line_editing_and_history_and_ctrl_d_leaves() -> None:
    pytest.importorskip("readline", reason="this Python has no readline")
    with Terminal("play", "gomoku", "-p", "board_size=9", *PERSONS) as terminal:
        terminal.wait_for("move: ")
        terminal.send("e6\x7f5\n")  # backspace
        after = terminal.wait_for("White (○) move: ")
        assert "(●)" in _CODE.sub("", terminal.text)  # the last move
        terminal.send("\x1b[A\n")  # arrow up: e5 again
        after = terminal.wait_for("e5 is occupied by Black", after)
        terminal.wait_for("move: ", after)
        terminal.send("\x04")
        assert terminal.end() == 0
        assert terminal.is_clean()


def test_a_game_is_saved_on_sigterm_during_a_search(state_home: Path) -> None:
    with Terminal("play", "connect_four", *LONG) as terminal:
        terminal.wait_for("move: ")
        terminal.send("4\n")
        terminal.wait_for("simulations,")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.end() == 143
        assert terminal.is_clean()
    (written,) = state_home.rglob("*.txt")
    assert "moves: 4\n" in written.read_text()


def test_a_game_is_saved_when_the_terminal_is_closed(state_home: Path) -> None:
    terminal = Terminal("play", "connect_four", *PERSONS)
    terminal.wait_for("move: ")
    terminal.send("4\n")
    terminal.wait_for("Yellow (○) move: ")
    os.close(terminal.slave)
    os.close(terminal.master)
    assert terminal.process.wait(60) == 129
    (written,) = state_home.rglob("*.txt")
    assert "moves: 4\n" in written.read_text()


# --- columns and colours


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make commands behave as in a terminal of 80 columns without colours."""
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TERM", "xterm")


def too_wide(text: str) -> list[str]:
    """Return the lines of more than 80 columns, except unbreakable paths."""
    lines = [_CODE.sub("", line).rstrip() for line in text.split("\n")]
    return [
        line for line in lines
        if len(line) > 80 and " " in line.strip() and not line.startswith("record: ")
    ]  # fmt: skip


@pytest.mark.usefixtures("columns")
def test_the_output_of_a_game_fits_the_terminal() -> None:
    typed = "\n".join(("zz", "c3", "c3", "moves", "hint", "load missing.sgf", "help", "quit\n"))
    arguments = ("go(board_size=5)", "--model", "rollout", "--simulations", "100")
    done = run("play", *arguments, typed=typed)
    assert "engine plays " in done.out
    assert too_wide(done.out.replace(" move: ", " move:\n")) == []


@pytest.mark.usefixtures("columns", "examined_once")
@pytest.mark.parametrize(
    "arguments", ["search go -n 50", "solve othello(board_size=4)", "doctor", "games"]
)
def test_the_output_of_a_command_fits_the_terminal(arguments: str) -> None:
    done = run(*arguments.split())
    assert done.out
    assert too_wide(done.out) == []


def test_lines_are_not_wrapped_in_a_pipe() -> None:
    text = run("search", "othello", "--model", "rollout", "--simulations", "500").out
    assert re.search(r"^speed 500 simulations in .*, ended by simulations$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("variables", "drawn"),
    [({}, True), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False)],
    ids=["colours", "NO_COLOR", "dumb"],
)
def test_players_are_told_apart_without_colours(
    variables: dict[str, str], drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", **variables}.items():
        monkeypatch.setenv(name, value)
    text = _CODE.sub("", run("play", "gomoku", *PERSONS, "--moves", "e5 d4").out)
    assert ("· · ·(○)· ·" in text) == drawn  # the last move
    assert ("4 . . . O . ." in text) != drawn
    assert ("● · ·" in text) == drawn
    black = "Black (●)" if drawn else "Black (X)"
    assert f"{black} to move\n" in text or f"{black} to move, last move D4\n" in text
    assert f"{black} move:" in text
