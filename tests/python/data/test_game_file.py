"""Reading games from SGF, GGF, saved games and lists of moves; writing GGF."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pyengine
from pyengine import ConfigError, DataError
from pyengine.data.game_file import GameFile, game_in
from pyengine.data.ggf import read_ggf, write_ggf
from pyengine.games.game import Game, State
from toy_games import ToyGame, ToyState

START = "8 ---------------------------O*------*O--------------------------- *"


def names_of(read: GameFile) -> list[str]:
    return [
        position.action_to_string(action)
        for position, action in zip(read.positions, read.actions, strict=False)
    ]


def read(text: str | bytes, game: str | None = None, name: str = "game.txt") -> GameFile:
    content = text.encode() if isinstance(text, str) else text
    return game_in(content, name, None if game is None else pyengine.load_game(game))


@pytest.mark.parametrize(
    ("game", "text", "moves"),
    [
        ("connect_four", "4 4 3 2", "4 4 3 2"),
        ("connect_four", "4432", "4 4 3 2"),
        ("connect_four", "1. 4 4\n2. 3 2", "4 4 3 2"),
        ("connect_four(columns=9)", "9,8,1", "9 8 1"),
        ("connect_four(rows=3,columns=12)", "12 1", "12 1"),
        ("othello", "f5d6c3d3", "f5 d6 c3 d3"),
        ("othello", "1. F5 D6\n2. C3 D3 1-0", "f5 d6 c3 d3"),
        ("othello", "1 f5, 2 d6, 3 c3", "f5 d6 c3"),
        ("othello", "1.f5 1...d6 2.c3", "f5 d6 c3"),
        ("gomoku", "a1a11b2 o15", "A1 A11 B2 O15"),
        ("gomoku", "# a comment\nh8\n\nh9", "H8 H9"),
        ("go(board_size=9)", "d4 e5 PASS pass", "D4 E5 pass pass"),
        ("tic_tac_toe", "\ufeffb2 a1", "b2 a1"),
    ],
)
def test_a_list_of_moves_may_be_written_as_people_do(game: str, text: str, moves: str) -> None:
    assert " ".join(names_of(read(text, game))) == moves


def random_game(game: Game, seed: int) -> tuple[list[int], State]:
    draw, state = random.Random(seed), game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(draw.choice(state.legal_actions()))
    return state.history(), state


@pytest.mark.parametrize("seed", range(5))
def test_passes_may_be_omitted_in_othello_and_ggf_returns_what_was_written(seed: int) -> None:
    game = pyengine.load_game("othello", board_size=6)
    actions, _ = random_game(game, seed)
    start = game.new_initial_state()
    text = write_ggf(start, actions, players=("a]", "b"))
    written = read(text)
    assert (written.game, list(written.actions), written.players) == (game, actions, ("a)", "b"))
    moves = [name for name in names_of(written) if name != "pass"]
    assert list(read(" ".join(moves), str(game)).actions) == actions
    without_passes = text.replace("B[PA]", "").replace("W[PA]", "")
    assert list(read_ggf(without_passes).actions) == actions


def test_ggf_gives_players_result_and_start() -> None:
    board = START.replace("O*---", "**---", 1)
    game = read(
        f"1 (;GM[Othello]PC[GGS/os]DT[2002.10.13]PB[ant]PW[zebra]RB[2000]RE[-4.00:t]TI[15:00]"
        f"TY[8r18]BO[{board[:-1]}O]W[c3//0.01]B[C4/-1.5/3];)"
    )
    assert (game.players, game.result, names_of(game)) == (("ant", "zebra"), "W+T", ["c3", "c4"])
    assert game.start.current_player() == 1
    assert game.start.board_rows()[3] == "...XX..."


def test_ggf_may_end_with_passes_and_have_its_end_mark_in_a_name() -> None:
    wipe_out = ["f5", "d6", "c5", "f4", "e3", "f6", "g5", "e6", "e7"]
    moves = "".join(f"{'BW'[i % 2]}[{move}]" for i, move in enumerate(wipe_out))
    game = read(f"(;GM[Othello]PB[Ann ;) x]BO[{START}]{moves}W[PA]B[PA];)")
    assert (game.players[0], names_of(game)) == ("Ann ;) x", wipe_out)


def test_names_and_results_are_short_and_printable() -> None:
    name, result = "\x1b[31mAnn\n\u3000B", "B+" + "9" * 500
    game = read(f"(;GM[Othello]PB[{name}]PW[{'x' * 500}]BO[{START}]B[d3];)")
    assert game.players[0] == r"\x1b[31mAnn B"
    assert len(game.players[1]) < 110
    saved = read(f"pyengine game\ngame: connect_four\nresult: {result}\nactions: 3")
    assert len(saved.result) < 110


def test_sgf_gives_the_game_the_start_and_the_players() -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    game = read("(;SZ[9]KM[6.5]HA[2]AB[gc][cg]PB[a]PW[b]RE[W+R];W[ee];B[gg])", name="x.sgf")
    assert (game.game.params["komi"], game.game.board_shape) == (6.5, (9, 9))
    assert (game.players, game.result, names_of(game)) == (("a", "b"), "W+R", ["E5", "G3"])
    assert "".join(game.start.board_rows()).count("X") == 2
    assert read("(;GM[4]SZ[15]RU[renju];B[hh])").game.params["rule"] == "renju"


def test_a_missing_komi_is_that_of_the_given_game_and_noted() -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    game = read("(;SZ[9];B[ee])", "go(komi=5.5)")
    assert game.game.params["komi"] == 5.5
    assert game.notes == ("the file gives no komi: 5.5 is assumed",)


def test_go_with_a_repeated_position_is_read_with_the_simple_ko_rule() -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    # On a row of three points, Black's third move restores the board after his first.
    text = "(;SZ[3:1]KM[0]RU[Japanese];B[aa];W[ca];B[ba];W[ca];B[aa])"
    game = read(text)
    assert game.game.params["superko"] == "simple"
    assert len(game.actions) == 5


@pytest.mark.parametrize(
    ("text", "game", "words"),
    [
        ("4 9", "connect_four", "expected a game of connect_four, got move 2: '9' is not a legal"),
        ("", "gomoku", "an empty file"),
        (b"\xff", "gomoku", "0xff"),
        ("a1 b1 a2 b2 a3 b3", "tic_tac_toe", "'b3' follows the end of the game"),
        ("1-0 a1", "tic_tac_toe", "'a1' follows the result 1-0"),
        ("pyengine game\ngame: othello(board_size=6)\nactions: ", "go", "got a game of othello"),
        ("pyengine game\nactions: 1", None, '"game:"'),
        ("pyengine game\ngame: os:system\nactions: 1", None, "is not loaded"),
        (f"(;GM[Othello]BO[{START}]B[a1];)", None, "move 1: a1 is not legal"),
        (f"(;GM[Othello]BO[{START}]W[d3];)", None, "W[d3] is out of turn"),
        (f"(;GM[Othello]BO[{START}]B[d3]", None, "truncated"),
        (f"(;GM[Othello]BO[{START}];)", "go", "got a game of othello"),
        (f"(;GM[Othello]TY[8a]BO[{START}];)", None, "anti-Othello"),
        ("(;GM[Othello]BO[8 -*];)", None, "64 points"),
        ("(;GM[Othello]BO[5 " + "-" * 25 + " *];)", None, "BO: "),
        ("(;GM[Othello]BO[x];)", None, "BO[x]"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(
    text: str | bytes, game: str | None, words: str
) -> None:
    with pytest.raises(DataError) as error:
        read(text, game)
    assert str(error.value).startswith("game.txt: ")
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["(;SZ[9];B[ee]", "(;SZ[30];B[ee])", "(;GM[2];B[ee])", "x"])
def test_damaged_sgf_is_refused(text: str) -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    with pytest.raises(DataError, match=r"x\.sgf: "):
        read(text, name=str(Path("x.sgf")))


def test_a_list_of_moves_needs_a_game() -> None:
    with pytest.raises(ConfigError, match="does not name its game"):
        read("4 4")


def test_names_of_moves_may_have_blanks_and_commas() -> None:
    class Blanks(ToyState):
        def action_to_string(self, action: int) -> str:
            return ("take 1", "take 12", "x(0,0)")[action]

    game = pyengine.games.as_game(ToyGame(Blanks))
    file = game_in(b"1. take 1 Take 12, x(0,0) take 12", "moves.txt", game)
    assert file.actions == (0, 1, 2, 1)
