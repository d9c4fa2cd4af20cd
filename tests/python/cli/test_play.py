"""``pyengine play``: games typed into a pipe, and into a terminal with Ctrl-C and Ctrl-D."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from terminal import Terminal

pytest.importorskip("typer", reason="the extra cli is not installed")


def play(*arguments: str, typed: str, status: int = 0) -> str:
    """Play with what is typed, a line each; return what was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pyengine.cli", "play", *arguments],
        input=typed.replace(" ", "\n") + "\n",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.isascii()
    return done.stdout


QUICK = ("--model", "uniform", "--simulations", "50", "--threads", "1")
TWO_PERSONS = ("--human", "both", *QUICK)

# --- in a pipe -----------------------------------------------------------------------------------


def test_a_move_is_answered_by_a_move() -> None:
    text = play("connect_four", *QUICK, typed="4 quit")
    assert "X move: 4\n" in text
    assert "engine plays " in text
    assert text.count("X to move") == 2
    assert text.count("O to move") == 1


def test_the_end_of_the_input_leaves() -> None:
    assert play("connect_four", *QUICK, typed="4").endswith("X move: \n")


def test_as_the_second_player_the_engine_begins() -> None:
    text = play("connect_four", "--human", "second", *QUICK, typed="quit")
    assert text.index("engine plays ") < text.index("O move: ")


def test_two_persons_play_to_the_end_of_the_game() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 a2 b1 b2 c1 quit")
    assert "engine plays" not in text
    assert "first player (X) wins" in text
    assert "new, undo or quit? quit" in text


def test_a_draw_is_a_draw() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert text.count("draw") == 1


def test_the_engine_plays_with_itself_and_ends() -> None:
    text = play("tic_tac_toe", "--human", "none", *QUICK, typed="")
    assert 5 <= text.count("engine plays") <= 9
    assert "move:" not in text


def test_the_engine_wins_where_it_can() -> None:
    text = play("connect_four", "-m", "rollout", "--moves", "1 4 1 4 2 4", typed="7")
    assert "engine plays 4" in text
    assert "second player (O) wins" in text


@pytest.mark.parametrize(
    ("typed", "words"),
    [("zz", '"zz" is no action'), ("9", '"9" is no action'), ("1", "legal moves: 2 3 4 5 6 7")],
)
def test_what_is_no_legal_move_is_explained_and_changes_nothing(typed: str, words: str) -> None:
    arguments = ("connect_four", "--moves", "1 1 1 1 1 1", *TWO_PERSONS)
    text = play(*arguments, typed=f"{typed} quit")
    assert words in text
    assert "type help" in text
    assert text.count("to move") == 1


def test_capitals_do_not_matter() -> None:
    text = play("gomoku", "-p", "board_size=9", *TWO_PERSONS, typed="e5 E6 QUIT")
    assert "is no action" not in text
    assert "5 . . . . X" in text
    assert "6 . . . . O" in text


def test_undo_takes_back_the_answer_too() -> None:
    text = play("connect_four", *QUICK, typed="4 undo quit")
    assert "X . . ." not in text.rpartition("undo\n")[2]
    empty = " . . . . . . .\n" * 6
    assert text.count(empty) == 2


def test_undo_at_the_start_takes_nothing_back() -> None:
    assert "no move of yours" in play("connect_four", *QUICK, typed="undo quit")
    assert "no move of yours" in play(
        "connect_four", "--human", "second", *QUICK, typed="undo quit"
    )
    assert "no move of yours" in play("connect_four", "--moves", "4 4", *QUICK, typed="undo quit")


def test_undo_goes_on_after_the_end() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 a2 b1 b2 c1 undo c3 quit")
    assert "first player (X) wins" in text
    assert text.rstrip().endswith("O move: quit")


def test_a_hint_is_a_table_and_no_move() -> None:
    text = play("tic_tac_toe", "--moves", "a1 b1 a2 b2", "-m", "uniform", typed="hint quit")
    assert "visits" in text
    assert "line a3" in text
    assert text.count("to move") == 1


def test_who_resigns_loses_and_may_take_it_back() -> None:
    text = play("connect_four", *QUICK, typed="resign resign undo new quit")
    assert "first player (X) resigns: second player (O) wins" in text
    assert "the game is over" in text
    assert text.count("X to move") == 3


def test_new_starts_again_where_the_game_began() -> None:
    text = play("connect_four", "--moves", "4 4", *TWO_PERSONS, typed="1 new quit")
    assert text.count("X to move") == 2
    assert text.count("O to move") == 1


@pytest.mark.parametrize("typed", ["help", "?"])
def test_help_names_every_command(typed: str) -> None:
    text = play("connect_four", *QUICK, typed=f"{typed} quit")
    for command in ("hint", "undo", "moves", "board", "resign", "new", "quit"):
        assert f"  {command} " in text


def test_moves_lists_the_legal_ones() -> None:
    text = play("tic_tac_toe", "--moves", "a1 b2", *QUICK, typed="moves quit")
    assert "legal moves: b1 c1 a2 c2 a3 b3 c3" in text
    assert "and 195 more" in play("gomoku", *QUICK, typed="moves quit")


def test_a_pass_is_a_move() -> None:
    text = play("go", "-p", "board_size=5", *TWO_PERSONS, typed="pass pass quit")
    assert "wins" in text


def test_a_game_may_start_from_a_board(tmp_path: Path) -> None:
    path = tmp_path / "board.txt"
    path.write_text("...\n.X.\n..O\n")
    text = play("tic_tac_toe", "--board", str(path), *TWO_PERSONS, typed="a1 undo undo quit")
    assert "2 . X ." in text
    assert "no move of yours" in text


# --- in a terminal -------------------------------------------------------------------------------


def test_ctrl_c_at_the_prompt_leaves_a_clean_terminal() -> None:
    with Terminal("play", "connect_four", *QUICK) as terminal:
        terminal.wait_for("move: ")
        terminal.send("4\n")
        after = terminal.wait_for("engine plays")
        terminal.wait_for("move: ", after)
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
        assert terminal.text.rstrip("\x1b[?25h").endswith("\n")


@pytest.mark.parametrize("keys", ["\x03", "\x03\x03"], ids=["once", "twice"])
def test_ctrl_c_while_the_engine_thinks_leaves_a_clean_terminal(keys: str) -> None:
    with Terminal("play", "connect_four", "-m", "rollout", "--seconds", "100") as terminal:
        terminal.wait_for("move: ")
        terminal.send("4\n")
        terminal.wait_for("thinking")
        terminal.send(keys)
        assert terminal.end() == 130
        assert terminal.is_clean()


def test_ctrl_d_leaves_with_0() -> None:
    with Terminal("play", "connect_four", *QUICK) as terminal:
        terminal.wait_for("move: ")
        terminal.send("\x04")
        assert terminal.end() == 0
        assert terminal.is_clean()


def test_a_terminal_sees_stones_and_the_last_move() -> None:
    with Terminal("play", "gomoku", "-p", "board_size=9", *TWO_PERSONS) as terminal:
        terminal.wait_for("move: ")
        terminal.send("e5\n")
        terminal.wait_for("●")
        terminal.send("quit\n")
        assert terminal.end() == 0
        assert "\x1b[1;7;31m●" in terminal.text
