"""``pyengine play`` with input from a pipe."""

from __future__ import annotations

import datetime
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import pyengine
from commands import printed, run
from pyengine import Clock
from pyengine.cli import dialogue
from pyengine.cli.clock import Clocks, clock_from
from pyengine.cli.dialogue import Dialogue
from pyengine.cli.play_record import record_path


def play(arguments: str, typed: str) -> str:
    """Play with typed lines, separated by semicolons; return the output."""
    done = run("play", *arguments.split(), typed=typed.replace(";", "\n") + "\n")
    assert (done.status, done.err) == (0, "")
    assert done.out.isascii()
    return done.out


def in_order(text: str, *phrases: str) -> bool:
    """Return whether a text contains phrases one after another."""
    for phrase in phrases:
        if phrase not in text:
            return False
        text = text.partition(phrase)[2]
    return True


ENGINE = "-m uniform -n 50 -t 1"
PERSONS = f"--human both {ENGINE}"
GOMOKU = "gomoku(board_size=9)"
GO = "go(board_size=5)"
FULL = "connect_four --moves 1,1,1,1,1,1"  # column 1
NO_MOVE = "no move to take back"
EMPTY = " . . . . . . .\n" * 6  # of Connect Four
COMMANDS = ["hint", "undo", "moves", "score", "ownership", "board", "go", "save", "load", "resign",
            "new", "quit"]  # fmt: skip
OTHELLO = "othello(board_size=4)"
MUST_PASS = f"{OTHELLO} --moves b1,c1,d3 {PERSONS}"  # after a1 Black has no move

#: A claim, arguments, typed lines, and phrases in the order of the output. Phrases after "never"
#: do not occur.
DIALOGUES = [
    ("a move is answered by a move", f"connect_four {ENGINE}", "4;quit",
     "Red (X) to move", "Red (X) move: 4\n", "Yellow (O) to move", "engine plays ", "Red (X) to"),
    ("the end of the input leaves", f"connect_four {ENGINE}", "4", "Red (X) move: \nrecord: "),
    ("the engine begins if the person is second", f"connect_four --human second {ENGINE}", "quit",
     "engine plays ", "Yellow (O) move: "),
    ("two persons play to the end", f"tic_tac_toe {PERSONS}", "a1;a2;b1;b2;c1;quit",
     "X wins", "new, undo, save or quit? quit", "never", "engine plays"),
    ("a draw is announced", f"tic_tac_toe {PERSONS}", "a1;b1;c1;b2;a2;c2;b3;a3;c3", "\ndraw\n"),
    ("the engine plays against itself and exits", f"tic_tac_toe --human none {ENGINE}", "",
     "engine plays ", "engine plays ", "engine plays ", "never", "move:"),
    ("the engine plays a winning move", f"connect_four {ENGINE} --moves 1,4,1,4,2,4", "7",
     "engine plays 4", "Yellow (O) wins"),
    ("an unknown move is explained and changes nothing", f"{FULL} {PERSONS}", "zz;9;quit",
     "'zz' is not a move", "legal moves: 2 3 4 5 6 7 (or type help)", "'9' is not a move",
     "never", "1 . . ."),
    ("a full column is explained", f"{FULL} {PERSONS}", "1;quit", "column 1 is full"),
    ("an occupied point is explained", f"{GOMOKU} {PERSONS}", "e5;e5;quit",
     "e5 is occupied by Black. type moves to list the legal moves, or help"),
    ("moves and commands ignore case", f"{GOMOKU} {PERSONS}", "e5;E6;QUIT",
     "6 . . . . O", "5 . . . . X", "never", "is not a move"),
    ("undo takes back the reply too", f"connect_four {ENGINE}", "4;undo;quit",
     "engine plays", "undo\n", EMPTY),
    ("undo at the start takes nothing back", f"connect_four {ENGINE}", "undo;quit", NO_MOVE),
    ("undo takes back no move of the engine alone", f"connect_four --human second {ENGINE}",
     "undo;quit", NO_MOVE),
    ("undo takes back no move of the start", f"connect_four --moves 4,4 {ENGINE}", "undo;quit",
     NO_MOVE),
    ("undo continues a finished game", f"tic_tac_toe {PERSONS}", "a1;a2;b1;b2;c1;undo;c3;quit",
     "X wins", "X move: c3", "O move: quit"),
    ("a hint shows a table and plays no move", f"tic_tac_toe --moves a1,b1,a2,b2 {ENGINE}",
     "hint;quit", "visits", "line a3", "X move: quit", "never", "engine plays"),
    ("a resignation loses and can be undone", f"connect_four {ENGINE}",
     "resign;resign;undo;new;quit", "Red (X) resigns: Yellow (O) wins", "the game is over",
     "Red (X) to move", "Red (X) to move"),
    ("new restarts from the same position", f"connect_four --moves 4,4 {PERSONS}", "1;new;quit",
     "Yellow (O) to move", "Red (X) to move"),
    ("help lists every command", f"connect_four {ENGINE}", "?;quit",
     "for example 1, or:", *(f"  {name} " for name in COMMANDS)),
    ("moves lists the legal moves", f"tic_tac_toe --moves a1,b2 {ENGINE}", "moves;quit",
     "legal moves: b1 c1 a2 c2 a3 b3 c3"),
    ("a player without a move passes", MUST_PASS, "a1;quit",
     "White (O) move: a1", "Black (X) has no legal move and passes\n", "White (O) move: quit"),
    ("undo takes back a forced pass too", MUST_PASS, "a1;undo;quit",
     "passes\n", "undo\n", "1 . X O .", "White (O) move: quit"),
    ("Othello shows its discs, and moves marks the points", f"{OTHELLO} {PERSONS}", "moves;quit",
     "Black (X) to move, Black 2, White 2\n", "legal moves: b1 a2 d3 c4",
     "1  . * . .\n", "2  * O X .\n", "3  . X O *", "4  . . * .", "move: quit"),
    ("a board in letters names the last move", f"{GOMOKU} {PERSONS}", "e5;quit",
     "White (O) to move, last move E5\n"),
    ("the score of Go is the area if the engine expects none", f"{GO} {PERSONS}", "c3;score;quit",
     "on the board: Black 25, White 0 + 7.5\n", "never", "expected"),
    ("ownership needs a network that predicts it", f"{GO} {PERSONS}", "ownership;score;quit",
     "the engine's network does not predict ownership\n"),
    ("an illegal move is explained with the player's name", f"{OTHELLO} {PERSONS}", "a1;quit",
     "a1 is not legal for Black. legal moves: b1 a2 d3 c4"),
    ("a person is named by colour", f"connect_four --human yellow {ENGINE}", "quit",
     "engine plays ", "Yellow (O) move: "),
    ("the engine plays at a level and hints at full strength",
     "tic_tac_toe --level beginner -t 1 --moves a1,b1,a2,b2", "hint;quit",
     "engine: tic_tac_toe; level 2 (beginner)\n", "proven win", "line a3"),
    ("a decided move ends the engine's search early",
     "connect_four -m uniform -n 100000 -t 1 --human second --moves 1,2,1,2,1,2", "quit",
     "engine plays 1"),
    ("a game of Go ends after two passes with its score", f"{GO} {PERSONS}",
     "c3;pass;pass;new;pass;pass;quit", "Black (X) wins by 17.5 (Black 25, White 0 + 7.5)",
     "White (O) wins by 7.5 (Black 0, White 0 + 7.5)"),
    ("go lets the engine move for a person", f"tic_tac_toe {PERSONS}", "go;quit",
     "engine plays ", "O move: quit"),
    ("a clock limits the engine and is shown", "tic_tac_toe -m rollout --clock 0.01+0", "b2;quit",
     "0:00 - 0:00 X move: b2", "engine plays"),
    ("a clock does not override the simulations",
     "tic_tac_toe -m rollout --clock 5 -n 40 --set stop_when_decided=false", "b2;quit",
     "40 simulations"),
    ("a player without time loses",
     "connect_four -m rollout --human second --clock 0.0000001", "quit",
     "Red (X) loses on time: Yellow (O) wins", "never", "engine plays"),
]  # fmt: skip


@pytest.mark.parametrize("case", DIALOGUES, ids=lambda case: case[0])
def test_in_a_dialogue(case: tuple[str, ...]) -> None:
    _, arguments, typed, *phrases = case
    text = play(arguments, typed)
    end = phrases.index("never") if "never" in phrases else len(phrases)
    assert in_order(text, *phrases[:end]), text
    assert not any(phrase in text for phrase in phrases[end + 1 :]), text


def test_ctrl_c_between_two_searches_leaves_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_self: Dialogue) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Dialogue, "_engine_moves", interrupted)
    assert run("play", "tic_tac_toe", "-m", "uniform", "--human", "none").status == 130


@pytest.mark.skipif("go9" not in pyengine.bundled_models(), reason="this build has no go9")
def test_go_shows_the_score_and_the_owners_that_the_network_expects() -> None:
    text = play("go9 -n 8", "e5;score;ownership;hint;quit")
    lead = r"(Black|White) leads by \d+\.\d|even"
    assert re.search(rf"on the board: Black \d+, White \d+ \+ 7; expected: ({lead})\n", text)
    assert "X Black, O White; x o likely; . open" in text
    assert re.search(rf"wins [\d.]+%, expected: ({lead}), line", text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("connect_four --human everybody", "--human: expected one of red, yellow, first"),
        ("othello --level 9", "level: expected 1 to 8"),
        ("othello --level 2 -n 10", "--level cannot be combined"),
        ("othello --level 2 --model uniform", "--level cannot be combined"),
        ("mnk --level 2", "no bundled network plays it"),
    ],
)
def test_wrong_players_and_levels_are_refused(arguments: str, words: str) -> None:
    done = run("play", *arguments.split())
    assert done.status == 2
    assert words in done.words


# --- saved games


OTHER_FILES = {
    "moves.txt": ("othello", "f5d6c3d3c4", "White (O) to move, last move c4"),
    "numbered.txt": ("connect_four", "1. 4 4 2. 3", "Yellow (O) to move, last move 3"),
    "game.ggf": (
        "othello",
        "(;GM[Othello]PC[x]PB[a]PW[b]TY[8]BO[8 --------------------------"
        "-O*------*O--------------------------- *]B[F5]W[D6];)",
        "Black (X) to move, last move d6",
    ),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_play_and_search_start_from_files_of_other_programs(name: str, tmp_path: Path) -> None:
    game, content, status = OTHER_FILES[name]
    file = tmp_path / name
    file.write_text(content)
    assert status in play(f"{game} --load {file} {PERSONS}", "quit")
    assert status in printed("search", game, "--load", file, "-m", "uniform", "-n", 10)


def test_a_position_within_a_loaded_game_is_searched_and_played(tmp_path: Path) -> None:
    file = tmp_path / "moves.txt"
    file.write_text("4 4 3 2 7")
    options = ("--load", file, "--at", "2", "--moves", "1")
    status = "Yellow (O) to move, last move 1\n"
    assert status in printed("search", "connect_four", *options, "-m", "uniform", "-n", 10)
    text = play(f"connect_four --load {file} --at 2 --moves 1 {PERSONS}", "quit")
    assert status in text
    assert run("search", "connect_four", "--at", "2").status == 2
    assert run("search", "connect_four", "--load", file, "--board", file).status == 2


def test_a_game_is_recorded_and_can_be_loaded(state_home: Path) -> None:
    text = play(f"tic_tac_toe {PERSONS}", "a1;a2;b1;quit")
    (record,) = (state_home / "pyengine" / "games").iterdir()
    assert text.rstrip().endswith(f"record: {record}")
    assert record.read_text().splitlines() == [
        "pyengine game",
        "game: tic_tac_toe",
        "moves: a1 a2 b1",
        "actions: 0 3 1",
        "result: ",
    ]
    text = play(f"tic_tac_toe --load {record} {PERSONS}", "b2;c1;quit")
    assert in_order(text, "1 X X .", "X wins\n")
    assert "1 X X ." in play(f"tic_tac_toe {PERSONS}", f"c3;load {record};quit")


def test_a_saved_game_includes_its_initial_board(tmp_path: Path) -> None:
    board, file = tmp_path / "board.txt", tmp_path / "game.txt"
    board.write_text("...\n.X.\n..O\n")
    play(f"tic_tac_toe --board {board} {PERSONS}", f"a1;save {file};quit")
    text = play(f"tic_tac_toe {PERSONS}", f"load {file};undo;undo;quit")
    assert in_order(text, "1 X . .", "1 . . .\n2 . X .\n3 . . O", NO_MOVE)


@pytest.mark.parametrize(
    ("game", "typed", "result"),
    [
        (GO, "c3;pass;b2;pass;pass", "B+17.5"),
        (GO, "c3;d4;b2;resign", "B+R"),
        (GOMOKU, "c3;d4;b2;d5;g1;d6;g2;d7;g5;d8", "W+"),
    ],
)
def test_a_game_is_saved_as_sgf_and_loaded(
    game: str, typed: str, result: str, tmp_path: Path
) -> None:
    sgf = pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    text = play(f"{game} {PERSONS}", f"{typed};save {file};quit")
    assert f"saved in {file}" in text
    record = sgf.Sgf_game.from_bytes(file.read_bytes())
    moves = [node.get_move() for node in record.get_main_sequence()]
    assert (moves[1], moves[3]) == (("b", (2, 2)), ("b", (1, 1)))
    assert record.get_root().get("RE") == result
    assert "3 . . X" in play(f"{game} --load {file} {PERSONS}", "quit")


@pytest.mark.parametrize(
    ("content", "phrases"),
    [
        ("SZ[5]KM[5.5]RU[Japanese];B[cc]", ("go(board_size=5,komi=5.5,", "3 . . X . .")),
        ("SZ[5:7]KM[375];B[cc]", ("go(rows=7,columns=5,komi=7.5,", "5 . . X . .")),
        ("SZ[5]AB[aa]AW[bb]PL[W]", ("5 X . . . .", "White (O) to move")),
    ],
)
def test_sgf_is_loaded_with_the_rules_and_stones_in_the_file(
    content: str, phrases: tuple[str, ...], tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    file.write_text(f"(;FF[4]{content})")
    text = play(f"go --load {file} {PERSONS}", "quit")
    assert in_order(text, *phrases)


def test_moves_are_loaded_with_the_rules_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    play(f"othello -p board_size=6 {PERSONS}", f"b3;save {file}")
    text = play(f"othello --load {file} {PERSONS}", "quit")
    assert text.startswith("othello(board_size=6)")
    assert "3 . X X X . ." in text
    for game in (["othello(board_size=8)"], ["othello", "-p", "board_size=8"], ["connect_four"]):
        done = run("play", "--load", file, *PERSONS.split(), *game)
        assert done.status == 1
        assert f"expected a game of {game[0].partition('(')[0]}" in done.err
        assert "got a game of othello(board_size=6)" in done.err


def test_saving_preserves_a_loaded_record_and_new_drops_it(tmp_path: Path) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file, again, new = (tmp_path / f"{name}.sgf" for name in ("game", "again", "new"))
    file.write_text("(;SZ[5]RU[Japanese]PB[Somebody]KM[750];B[cc]C[good];W[tt];B[tt];W[aa])")
    typed = f"save {again};new;save {new};quit"
    text = play(f"go --load {file} {PERSONS}", typed)
    replaced = "the rules Japanese were replaced by Chinese"
    assert f"game.sgf: {replaced}\n" in text
    assert "game.sgf: moves after the end: 1 after move 3\n" in text
    assert f"saved in {again}\n{replaced}\n" in text
    assert "PB[Somebody]" in again.read_text()
    assert "C[good]" in again.read_text()
    assert "Somebody" not in new.read_text()


FILES = {
    "other": "pyengine game\ngame: connect_four(rows=6,columns=7)\nactions: 3\n",
    "wrong": "hello\n",
    "illegal": "pyengine game\ngame: tic_tac_toe\nactions: 0 0\n",
    "binary": "\xff",
    "empty": "pyengine game\ngame: tic_tac_toe\n",
    "numbers": "pyengine game\ngame: tic_tac_toe\nactions: 0 x\n",
    "large.sgf": "(;FF[4]SZ[9];B[cc])",
    "komi.sgf": "(;FF[4]SZ[5]KM[6.5];B[cc])",
    "gomoku.sgf": "(;FF[4]GM[4]SZ[5];B[cc])",
}


@pytest.mark.parametrize(
    ("game", "typed", "words"),
    [
        ("tic_tac_toe", "save", "FILE: expected a path"),
        ("tic_tac_toe", "load", "FILE: expected a path"),
        ("tic_tac_toe", "save /nowhere/game.txt", "/nowhere"),
        ("tic_tac_toe", "save game.sgf", "SGF supports go and gomoku"),
        ("tic_tac_toe", "load none", "none"),
        ("tic_tac_toe", "load other", "expected a game of tic_tac_toe, got a game of connect_four"),
        ("tic_tac_toe", "load wrong", "move 1: 'hello' is not a legal move"),
        ("tic_tac_toe", "load illegal", "not legal"),
        ("tic_tac_toe", "load binary", "0xff"),
        ("tic_tac_toe", "load empty", 'a file without a line "actions:"'),
        ("tic_tac_toe", "load numbers", "'x'"),
        (GO, "load large.sgf", "expected 5x5, got 9x9"),
        (GO, "load komi.sgf", "got a komi of 6.5"),
        (GO, "load gomoku.sgf", "got another game: GM[4]"),
    ],
)
def test_a_bad_file_is_explained_and_the_game_continues(
    game: str, typed: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sgf" in typed:
        pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="latin-1")
    text = play(f"{game} {PERSONS}", f"a1;{typed};b1;quit")
    assert words in " ".join(text.split())
    assert "1 X O ." in text


def test_a_game_is_saved_without_a_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = record_path(pyengine.load_game("tic_tac_toe"), datetime.datetime.now())
    assert path.is_relative_to(tmp_path)


@pytest.mark.parametrize("command", ["new", "load"])
def test_a_replaced_game_is_saved(command: str, tmp_path: Path, state_home: Path) -> None:
    other = tmp_path / "other.txt"
    play(f"connect_four {PERSONS}", f"1;2;save {other}")
    before = set(state_home.rglob("*.txt"))
    play(f"connect_four {PERSONS}", "4;4;new" if command == "new" else f"4;4;load {other}")
    written = [path.read_text() for path in set(state_home.rglob("*.txt")) - before]
    assert any("moves: 4 4\n" in text for text in written)


def test_a_failed_load_changes_nothing(tmp_path: Path, state_home: Path) -> None:
    text = play(f"connect_four {PERSONS}", f"4;load {tmp_path}/none;4")
    assert f"{tmp_path}/none" in text
    (written,) = state_home.rglob("*.txt")
    assert "moves: 4 4\n" in written.read_text()


OWN_GAMES = """
from toy_games import Matches, ToyGame

class Spaced(Matches):
    def action_to_string(self, action):
        return f"take {action + 1}"

class Ambiguous(Matches):
    def action_to_string(self, action):
        return "take"

spaced, ambiguous = ToyGame(Spaced), ToyGame(Ambiguous)
"""


def test_a_game_with_any_names_of_moves_can_be_loaded(tmp_path: Path) -> None:
    games, file = tmp_path / "own.py", tmp_path / "game.txt"
    games.write_text(OWN_GAMES)
    typed = f"take 2;take 3;save {file};new;load {file}"
    text = play(f"{games}:spaced {PERSONS}", typed)
    assert "moves: take 2 take 3\nactions: 1 2\n" in file.read_text()
    assert "moves: 1 2\n" in text.rpartition("load ")[2]
    play(f"{games}:ambiguous {PERSONS} --moves 2", f"1;save {file}")
    assert "actions: 1\n" in file.read_text()
    play(f"{games}:ambiguous {PERSONS} --load {file}", f"0;save {file}")
    assert "actions: 2 1 0\n" in file.read_text()


# --- the clock


def test_only_a_move_adds_the_increment() -> None:
    text = play(f"tic_tac_toe {PERSONS} --clock 5+60", "help;moves;a1;quit")
    assert "6:00 - 5:00 O move:" in text or "5:59 - 5:00 O move:" in text


def test_the_clocks_of_a_ply_are_restored() -> None:
    clocks = Clocks(clock_from("1+5"))

    def left() -> list[float]:
        return [clock.left for clock in (clocks[0], clocks[1])]

    for ply in range(3):
        assert clocks[ply % 2].run(10.0)
        clocks.press(ply % 2, ply + 1)
    assert left() == [50.0, 55.0]
    for _ in range(2):  # a flag that has fallen is up again, also the second time
        assert not clocks[1].run(90.0)
        clocks.go_back(2)
        assert left() == [55.0, 55.0]
    clocks.reset()
    clocks.go_back(2)
    assert left() == [60.0, 60.0]


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("5", Clock(300)),
        ("0.5+2", Clock(30, 2)),
        ("2s+0.1s", Clock(2, 0.1)),
        ("10+3x30", Clock(600, periods=3, period_seconds=30)),
        ("0+1x10", Clock(0, periods=1, period_seconds=10)),
        ("10+25/600", Clock(600, period_moves=25, period_seconds=600)),
    ],
)
def test_a_clock_may_have_an_increment_or_byo_yomi(text: str, clock: Clock) -> None:
    assert repr(clock_from(text)) == repr(clock)


def test_undo_after_a_loss_on_time_restores_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    read = dialogue.read_line

    def slowly(prompt: str) -> str:
        nonlocal now
        line = read(prompt)
        now += 10.0 if line == "b1" else 0.0
        return line

    monkeypatch.setattr(dialogue, "read_line", slowly)
    monkeypatch.setattr(dialogue, "time", SimpleNamespace(monotonic=lambda: now))
    text = play(f"tic_tac_toe {PERSONS} --clock 0.1", "a1;b1;undo;c3;quit")
    assert text.count("loses on time") == 1
    after = text.partition("undo, save or quit? undo")[2]
    assert in_order(after, "0:06 - 0:06 X move: c3", "0:06 - 0:06 O move: quit")
