"""UGI, spoken by every game."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest

import pyengine
from dialogues import assert_matches, random_lines, replies, tiny_engines
from pyengine.games import as_game
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Lines, Output
from pyengine.protocols.session import Session
from pyengine.protocols.ugi import Ugi
from toy_games import ToyGame, ToyState

INFO = r"info depth \d+ time \d+ nodes \d+ nps \d+ score cp -?\d+ pv .+"
ERROR = r"info string error: .+"
RANDOM = [
    "go nodes 3",
    "position",
    "startpos",
    "fen",
    "moves",
    "1",
    "a1",
    "...",
    "/",
    ",x",
    "isready",
    "stop",
    "query",
    "result",
    "p1turn",
    "setoption name",
    "seed",
    "value",
    "uginewgame",
    "ugi",
]


def speaks(game: str, session: list[Session] | None = None) -> Callable[[Inbox, Output], object]:
    def speak(inbox: Inbox, output: Output) -> None:
        played = Session(pyengine.load_game(game), tiny_engines())
        if session is not None:
            session.append(played)
        Ugi(played, inbox, output, "pyengine").run()

    return speak


@pytest.mark.parametrize(
    ("game", "text", "expected"),
    [
        ("tic_tac_toe", "isready\nuginewgame\nisready\nquit\nisready\n", ["readyok", "readyok"]),
        ("tic_tac_toe", "position startpos moves a1 B2 c3\nquery p1turn\n", ["response false"]),
        ("tic_tac_toe", "go nodes 7\n", [INFO, r"bestmove [abc]\d"]),
        ("tic_tac_toe", "position fen XX./OO./...,x\ngo nodes 50\n", [INFO, "bestmove c1"]),
        ("tic_tac_toe", "position fen XX./OO./... o\ngo depth 4\n", [INFO, "bestmove c2"]),
        (
            "tic_tac_toe",
            "position startpos moves a1 a2 b1 b2 c1\nquery gameover\nquery result\ngo\n",
            ["response true", "response p1win", ERROR, "bestmove [(]none[)]"],
        ),
        ("connect_four", "position startpos moves 4 4\nquery result\n", ["response none"]),
        (
            "connect_four",
            "position fen connect_four(rows=6,columns=7);moves=3,3\n"
            "go p1time 90000 p2time 90000 p1inc 0 p2inc 0\n",
            [INFO, r"bestmove \d"],
        ),
        (
            "go(board_size=3)",
            "position startpos moves A1 pass pass\nquery result\n",
            ["response p1win"],
        ),
        ("go(board_size=3)", "go movetime 20\n", [INFO, "bestmove .+"]),
        (
            "othello(board_size=4)",
            "position startpos moves b1 zz\nquery p1turn\n",
            [ERROR, "response true"],
        ),
        ("tic_tac_toe", "go infinite\nisready\nstop\n", ["readyok", INFO, "bestmove .+"]),
        ("tic_tac_toe", "go infinite\n", [INFO, "bestmove .+"]),
        (
            "tic_tac_toe",
            "setoption name Threads value 2\nsetoption name Hash value 64\n"
            "setoption name FPU value parent\ngo nodes 5\n",
            [INFO, "bestmove .+"],
        ),
        (
            "tic_tac_toe",
            "setoption name threads value x\nsetoption name colour value 1\n",
            [ERROR, ERROR],
        ),
        ("tic_tac_toe", "query colour\nposition foo\nposition fen a b c\nnonsense\n", [ERROR] * 3),
    ],
)
def test_a_dialogue(game: str, text: str, expected: list[str]):
    assert_matches(replies(speaks(game), text), expected)


@pytest.mark.parametrize(
    "game",
    [
        "tic_tac_toe",
        "mnk(rows=3,columns=4,k=3)",
        "connect_four(rows=4,columns=4)",
        "gomoku(board_size=5)",
        "othello(board_size=4)",
        "go(board_size=3)",
    ],
)
def test_every_game_is_played_to_its_end_by_moves_and_queries(game: str):
    moves: list[str] = []
    while True:
        position = f"position startpos{' moves ' if moves else ''}{' '.join(moves)}\n"
        over, turn = replies(speaks(game), f"{position}query gameover\nquery p1turn\n")
        if over == "response true":
            break
        assert turn == f"response {str(len(moves) % 2 == 0).lower()}"
        moves.append(replies(speaks(game), f"{position}go nodes 2\n")[-1].split()[1])
    (result,) = replies(speaks(game), f"{position}query result\n")
    assert result in ("response p1win", "response p2win", "response draw")


@pytest.mark.parametrize(
    "limits",
    ["p1time 99999999999999 p1inc 99999999999999", "p1time 50 p1inc -5", "nodes 999999999999"],
)
def test_limits_out_of_range_still_give_a_move(limits: str):
    lines = replies(speaks("tic_tac_toe"), f"go {limits}\n")
    assert_matches(lines, [INFO, r"bestmove [abc]\d"])


def test_an_infinite_search_goes_on_after_a_proof():
    written: list[str] = []

    def next_chunk() -> bytes:
        if not written:
            written.append("go")
            return b"setoption name simulations value 5\ngo infinite\n"
        if len(written) == 1:
            while b"info depth" not in stream.getvalue():
                time.sleep(0.002)
            time.sleep(0.1)  # longer than the engine needs after its last report
            written.append(stream.getvalue().decode())
            return b"stop\n"
        return b""

    stream = io.BytesIO()
    speaks("tic_tac_toe")(Inbox(Lines(next_chunk)), Output(stream))
    assert "bestmove" not in written[1]
    assert "bestmove" in stream.getvalue().decode()


def test_the_engine_introduces_itself():
    first, author, *options, last = replies(speaks("tic_tac_toe"), "ugi\n")
    assert first.startswith("id name pyengine ")
    assert author.startswith("id author ")
    assert last == "ugiok"
    assert "option name threads type string default 1" in options


def test_a_position_that_continues_the_game_keeps_the_tree():
    session: list[Session] = []
    text = "go nodes 50\nposition startpos moves b2\ngo nodes 1\n"
    replies(speaks("tic_tac_toe", session), text)
    assert session[0].choose(simulations=1).reused > 1


def test_moves_with_blanks_go_by_their_numbers():
    class Spaced(ToyState):
        def action_to_string(self, action: int) -> str:
            return f"add {action}"

    def speak(inbox: Inbox, output: Output) -> None:
        Ugi(Session(as_game(ToyGame(Spaced)), tiny_engines()), inbox, output, "toy").run()

    lines = replies(speak, "position startpos moves 1\nquery p1turn\ngo nodes 20\n")
    assert_matches(lines, ["response false", INFO, r"bestmove \d"])


def test_random_lines_get_replies_of_the_protocol_alone():
    lines = replies(speaks("tic_tac_toe"), random_lines(RANDOM))
    allowed = ("id ", "option name ", "ugiok", "readyok", "response ", "info ", "bestmove ")
    assert [line for line in lines if not line.startswith(allowed)] == []
    assert lines.count("readyok") > 100
