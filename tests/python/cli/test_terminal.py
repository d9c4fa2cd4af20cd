"""The command in a terminal: Ctrl-C, signals, progress, line editing and columns."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import restored_signals, run
from pyengine import cli
from terminal import Terminal

QUICK = ("--model", "uniform", "--simulations", "50", "--threads", "1")
TWO_PERSONS = ("--human", "both", *QUICK)
LONG = ("-m", "rollout", "--seconds", "100")
LONG_GAMES = ("-n", "1000000", "-t", "1")
_CODE = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Save games below the temporary directory."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


# --- Ctrl-C and signals


def test_ctrl_c_ends_a_search_and_leaves_a_clean_terminal() -> None:
    with Terminal("search", "connect_four", *LONG) as terminal:
        terminal.wait_for("simulations,")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
        result = " ".join(terminal.text[terminal.text.index("visits") :].split())
        assert "positions evaluated, stopped" in result, "the result so far is printed"
        assert "\x1b[?25l" in terminal.text, "the progress hides the cursor while it runs"


def test_ctrl_c_ends_solve_with_the_best_result_so_far() -> None:
    with Terminal("solve", "connect_four", "--threads", "1") as terminal:
        terminal.wait_for("Ctrl-C stops")
        time.sleep(0.5)
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    text = _CODE.sub("", terminal.text)
    for words in ("exact  no, ", "best   4", "line   4"):
        assert words in text


def test_ctrl_c_ends_tune_with_the_best_settings_so_far() -> None:
    with Terminal("bench", "--tune", "tic_tac_toe", "--seconds", "100") as terminal:
        terminal.wait_for("m0:0")  # the remaining time, shown after two measurements
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    assert "<- chosen" in terminal.text
    assert "(interrupted)" in terminal.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("match", "go", "rollout", "rollout", *LONG_GAMES, "--record", "kept.jsonl"),
            "the same command resumes from the games in kept.jsonl",
        ),
        (
            ("selfplay", "go", "-m", "rollout", *LONG_GAMES, "--out", "games"),
            "the same command adds more games to games",
        ),
    ],
    ids=["match", "selfplay"],
)
def test_ctrl_c_before_a_game_ends_explains_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal(*arguments) as terminal:
        terminal.wait_for("0/100")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    assert f"stopped; {words}" in " ".join(terminal.text.split())


def test_sigterm_restores_the_cursor_of_a_narrow_terminal() -> None:
    with Terminal("search", "connect_four", *LONG, COLUMNS="12") as terminal:
        terminal.wait_for("\x1b[?25l")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.end() == 143
        assert terminal.is_clean()


def test_ctrl_c_without_a_terminal_prints_no_traceback() -> None:
    arguments = ["play", "go", *LONG, "--human", "none"]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "pyengine", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert any("to move" in line for line in process.stdout)  # then the engine searches
        start = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert time.monotonic() - start < 5
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_signal_that_a_shell_ignores_stays_ignored() -> None:
    with restored_signals():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        cli._end_by_signals()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_progress_is_shown_and_then_erased() -> None:
    with Terminal("search", "connect_four", "-m", "rollout", "--seconds", "0.6") as terminal:
        assert terminal.end() == 0
        assert terminal.is_clean()
    progress = terminal.text.rindex("simulations,")
    assert "\x1b[2K" in terminal.text[progress:]
    assert "ended by seconds" in terminal.text[progress:]


# --- a game


def test_the_first_ctrl_c_at_the_prompt_continues_and_the_second_leaves() -> None:
    with Terminal("play", "connect_four", *QUICK) as terminal:
        after = terminal.wait_for("move: ")
        for _ in range(2):
            terminal.send("4\n")
            after = terminal.wait_for("engine plays", after)
            after = terminal.wait_for("move: ", after)
            terminal.send("\x03")
            after = terminal.wait_for("continue the game, or leave", after)
            after = terminal.wait_for("move: ", after)
        terminal.send("\x03")
        terminal.wait_for("record: ", after)
        assert terminal.end() == 130
        assert terminal.is_clean()


def test_ctrl_c_twice_during_a_search_asks_the_person_to_move() -> None:
    with Terminal("play", "connect_four", *LONG) as terminal:
        terminal.wait_for("move: ")
        terminal.send("4\n")
        after = terminal.wait_for("simulations,")
        terminal.send("\x03\x03")
        after = terminal.wait_for("stopped: type a move for the engine", after)
        after = terminal.wait_for("Yellow move: ", after)
        terminal.send("1\n")
        after = terminal.wait_for("Red move: ", after)
        terminal.send("quit\n")
        assert terminal.end() == 0
        assert terminal.is_clean()


def test_the_prompt_has_line_editing_and_history_and_ctrl_d_leaves() -> None:
    pytest.importorskip("readline", reason="this Python has no readline")
    with Terminal("play", "gomoku", "-p", "board_size=9", *TWO_PERSONS) as terminal:
        terminal.wait_for("move: ")
        terminal.send("e6\x7f5\n")  # backspace
        after = terminal.wait_for("White move: ")
        assert "\x1b[1;7;30;48" in terminal.text  # the last move: a black stone, inverted
        terminal.send("\x1b[A\n")  # arrow up: e5 again
        after = terminal.wait_for("e5 is occupied by Black", after)
        terminal.wait_for("move: ", after)
        terminal.send("\x04")
        assert terminal.end() == 0
        assert terminal.is_clean()


@pytest.mark.parametrize(
    ("name", "searching"), [("SIGTERM", True), ("SIGHUP", False)], ids=["SIGTERM", "SIGHUP"]
)
def test_a_game_ended_by_a_signal_is_saved(name: str, searching: bool, state_home: Path) -> None:
    with Terminal("play", "connect_four", *(LONG if searching else QUICK)) as terminal:
        terminal.wait_for("move: ")
        terminal.send("4\n")
        after = terminal.wait_for("simulations," if searching else "engine plays")
        if not searching:
            terminal.wait_for("move: ", after)
        terminal.process.send_signal(getattr(signal, name))
        assert terminal.end() == 128 + getattr(signal, name)
        assert terminal.is_clean()
    (written,) = state_home.rglob("*.txt")
    assert "moves: 4" in written.read_text()


def test_a_game_is_saved_when_the_terminal_is_closed(state_home: Path) -> None:
    terminal = Terminal("play", "connect_four", *TWO_PERSONS)
    terminal.wait_for("move: ")
    terminal.send("4\n")
    terminal.wait_for("Yellow move: ")
    os.close(terminal.slave)
    os.close(terminal.master)
    terminal.process.wait(60)
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
    arguments = ("go(board_size=5)", "--model", "rollout", "--simulations", "600")
    done = run("play", *arguments, typed=typed)
    assert "engine plays " in done.out
    assert too_wide(done.out.replace(" move: ", " move:\n")) == []


@pytest.mark.usefixtures("columns")
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
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    ids=["colours", "NO_COLOR", "dumb"],
)
def test_stones_are_drawn_on_a_terminal_with_colours(
    variables: dict[str, str], drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", **variables}.items():
        monkeypatch.setenv(name, value)
    text = _CODE.sub("", run("play", "gomoku", *TWO_PERSONS, "--moves", "e5 d4").out)
    assert ("●" in text) == drawn
    assert ("O . ." in text) != drawn
    assert ("Black move:" if drawn else "Black (X) move:") in text
