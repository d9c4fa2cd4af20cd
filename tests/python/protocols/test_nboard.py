"""NBoard's protocol."""

from __future__ import annotations

import random

import pytest

import pyengine
from dialogues import assert_matches, random_lines, replies, tiny_engines
from pyengine.data.ggf import write_ggf
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output
from pyengine.protocols.nboard.clock import GgfClocks
from pyengine.protocols.nboard.dialogue import NBoard
from pyengine.protocols.nboard.evaluations import Endgame, discs_of, final_lead
from pyengine.protocols.session import Session

OTHELLO = pyengine.load_game("othello")
START = f"8 {27 * '-'}O*------*O{27 * '-'} *"
NUMBER = r"-?\d+\.\d\d"
SEARCH = rf"search ([A-H][1-8]|PA)+ {NUMBER} 0 \d+(%W|%)?"
STATS = r"nodestats \d+ \d+\.\d\d"
THINKING, ANALYZING = "status pyengine is thinking", "status pyengine is analyzing"
PLAY = rf"=== [A-H][1-8]/{NUMBER}/\d+\.\d\d"
RANDOM = (
    *("nboard 2", "set", "game", "(;GM[Othello]", "BO[8", "B[F5];)", "depth", "contempt", "move"),
    *("F5", "D6", "PA", "/1.0/2", "hint 2", "go", "ping 7", "learn", "analyze", "d3"),
    *(
        "ping",
        "F5/1",
        "pass",
        "learn",
        "nboard",
        "set depth 3",
        "a1",
        "ggf",
        "quiet",
        "-",
        "1",
        "2",
    ),
    f"set game (;GM[Othello]TI[0:05]BO[{START}]B[F5//1]W[D6];)",
)


def transcript(text: str | bytes, simulations: int = 20) -> list[str]:
    """Return the replies to commands that are separated by ``|``."""

    def speak(inbox: Inbox, output: Output) -> None:
        session = Session(OTHELLO, tiny_engines(simulations))
        NBoard(session, inbox, output, "pyengine").run()

    return replies(speak, text.replace("|", "\n") + "\n" if isinstance(text, str) else text)


def late_position(empty: int) -> pyengine.State:
    rng = random.Random(5)
    state = OTHELLO.new_initial_state()
    while "".join(state.board_rows()).count(".") > empty:
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nboard 2|ping 3|quit|ping 4", ["set myname pyengine", "pong 3"]),
        ("learn|ping|set contempt 20|set depth 4|remove_tree|", ["learned", "pong 0"]),
        ("go", [THINKING, SEARCH, STATS, PLAY, "status"]),
        ("hint 3", [ANALYZING, *[SEARCH] * 3, STATS, "status"]),
        ("hint", [ANALYZING, SEARCH, STATS, "status"]),
        (
            f"nboard 2|set depth 6|set game (;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]"
            f"PB[./mEdax]PW[chris]RE[?]TI[15:00]TY[8]BO[{START}]B[F5]W[F6]B[D3]W[C5];)|ping 1|go",
            ["set myname pyengine", "pong 1", THINKING, SEARCH, STATS, PLAY, "status"],
        ),
        ("F5|move D6/1.00/2|analyze", [".+ the game", *[f"analysis [012] {NUMBER}"] * 3, "status"]),
        ("move F5|move F5|move A1|set game x|analyze", [".+", *["analysis .+"] * 2, "status"]),
        (
            "set game (;GM[Othello]BO[4 -----O*--*O----- *];)|hint 1",
            [ANALYZING, rf"search \S+ {NUMBER} 0 \d+", STATS, "status"],
        ),
    ],
)
def test_a_dialogue(text: str, expected: list[str]):
    assert_matches(transcript(text), expected)


def test_the_engine_waits_for_its_move_to_come_back():
    move = transcript("go")[3].split("/")[0].removeprefix("=== ")
    lines = transcript(f"go|move {move}|analyze")
    assert [line for line in lines if line.startswith("analysis 1 ")]
    assert not [line for line in transcript("go|analyze") if line.startswith("analysis 1 ")]


def test_a_ping_ends_a_search_and_follows_its_result():
    lines = transcript("set depth 60|go|ping 9", simulations=10**9)
    assert_matches(lines[-3:], [PLAY, "status", "pong 9"])


def test_a_proof_and_an_exact_result_are_marked():
    small = "set game (;GM[Othello]BO[4 -----O*--*O----- *];)|hint 1"
    assert transcript(small, simulations=100_000)[1].endswith(" 100%W")
    state = late_position(10)
    game = f"set game {write_ggf(OTHELLO.new_initial_state(), state.history())}"
    exact = pyengine.solve(state, score=True)
    lines = transcript(f"{game}|hint 9|go|analyze")
    assert lines[1].endswith(f" {exact.value:.2f} 0 100%")
    assert f"/{exact.value:.2f}/" in next(line for line in lines if line.startswith("==="))
    assert f"analysis {len(state.history())} {exact.value:.2f}" in lines


def test_the_exact_moves_agree_with_the_result_of_each():
    state = late_position(9)
    for line in Endgame(threads=1).lines(state, 99, 10.0):
        after = state.clone()
        after.apply_action(state.string_to_action(line.move.lower()))
        assert line.discs == -pyengine.solve(after, score=True).value


def test_empty_squares_go_to_the_winner():
    rows = ["XXXXXXXX"] * 7 + ["XXXXOO.."]
    state = OTHELLO.state_from_board(rows)
    assert final_lead(state, 0) == -final_lead(state, 1) == 62 - 2
    assert final_lead(OTHELLO.state_from_board(["XO" * 4] * 8), 0) == 0


def test_discs_grow_with_the_value():
    values = [-1, -0.5, 0, 0.5, 1]
    leads = [discs_of(value) for value in values]
    assert leads == sorted(leads)
    assert leads[2] == 0
    assert -64 < leads[0] == -leads[-1]


@pytest.mark.parametrize(
    ("ggf", "moves", "left"),
    [
        ("TI[15:00]", [], (900, 900)),
        ("TI[1:00:00]B[F5//61.5]W[D6/2.0/10]", [], (3538.5, 3590)),
        ("TI[60/5/30]B[F5//10]", [(1, "D6/-1.00/20")], (55, 45)),
        ("TI[5:00//2:00]", [(0, "F5")], (300, 300)),
        ("TI[999999:00:00]", [], (1e6, 1e6)),
        ("TI[x]B[F5//y]", [(1, "F5//")], None),
        ("", [], None),
    ],
)
def test_the_clock_is_that_of_the_game(
    ggf: str, moves: list[tuple[int, str]], left: tuple[float, float] | None
):
    clocks, session = GgfClocks(ggf), Session(OTHELLO, tiny_engines())
    for player, move in moves:
        clocks.note_move(player, move)
    clocks.set(session)
    found = [clock.left for clock in session.clocks if clock is not None]
    assert found == pytest.approx(left or [])


def test_random_lines_get_replies_of_the_protocol_alone():
    lines = transcript(random_lines(RANDOM), simulations=4)
    allowed = (
        "set myname ",
        "search ",
        "nodestats ",
        "===",
        "pong ",
        "learned",
        "status",
        "analysis ",
    )
    assert [line for line in lines if not line.startswith(allowed)] == []
    assert sum(line.startswith("pong") for line in lines) > 100
