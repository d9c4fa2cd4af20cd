"""``pyengine play`` with input from a pipe."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import Any

import pytest

import pyengine
from commands import run
from pyengine.cli import dialogue
from pyengine.cli.clock import Clock
from pyengine.cli.dialogue import Dialogue
from pyengine.cli.play_record import record_path
from pyengine.data import import_sgf


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Save games below the temporary directory."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


def play(*arguments: str, typed: str, status: int = 0) -> str:
    """Play with typed lines, separated by semicolons or else by spaces; return the output."""
    lines = typed.replace(";", "\n") if ";" in typed else typed.replace(" ", "\n")
    done = run("play", *arguments, typed=lines + "\n")
    assert (done.status, done.err) == (status, "")
    assert done.out.isascii()
    return done.out


QUICK = ("--model", "uniform", "--simulations", "50", "--threads", "1")
TWO_PERSONS = ("--human", "both", *QUICK)
NO_MOVE = "no move to take back"


def test_a_move_is_answered_by_a_move() -> None:
    text = play("connect_four", *QUICK, typed="4 quit")
    assert "Red (X) move: 4\n" in text
    assert "engine plays " in text
    assert text.count("Red (X) to move") == 2
    assert text.count("Yellow (O) to move") == 1


def test_the_end_of_the_input_leaves() -> None:
    assert "Red (X) move: \nrecord: " in play("connect_four", *QUICK, typed="4")


def test_the_engine_begins_if_the_person_is_second() -> None:
    text = play("connect_four", "--human", "second", *QUICK, typed="quit")
    assert text.index("engine plays ") < text.index("Yellow (O) move: ")


def test_two_persons_play_to_the_end_of_the_game() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 a2 b1 b2 c1 quit")
    assert "engine plays" not in text
    assert "X wins" in text
    assert "new, undo, save or quit? quit" in text


def test_a_draw_is_announced_once() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert text.count("\ndraw\n") == 1


def test_the_engine_plays_against_itself_and_exits() -> None:
    text = play("tic_tac_toe", "--human", "none", *QUICK, typed="")
    assert 5 <= text.count("engine plays") <= 9
    assert "move:" not in text


def test_the_engine_plays_a_winning_move() -> None:
    text = play("connect_four", *QUICK, "--moves", "1 4 1 4 2 4", typed="7")
    assert "engine plays 4" in text
    assert "Yellow (O) wins" in text


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("zz", '"zz" is not an action'),
        ("9", '"9" is not an action'),
        ("1", "legal moves: 2 3 4 5 6 7"),
    ],
)
def test_an_illegal_move_is_explained_and_changes_nothing(typed: str, words: str) -> None:
    arguments = ("connect_four", "--moves", "1 1 1 1 1 1", *TWO_PERSONS)
    text = play(*arguments, typed=f"{typed} quit")
    assert words in text
    assert "type help" in text
    assert text.count("to move") == 1


def test_moves_and_commands_ignore_case() -> None:
    text = play("gomoku", "-p", "board_size=9", *TWO_PERSONS, typed="e5 E6 QUIT")
    assert "is not an action" not in text
    assert "5 . . . . X" in text
    assert "6 . . . . O" in text


def test_undo_takes_back_the_reply_too() -> None:
    text = play("connect_four", *QUICK, typed="4 undo quit")
    assert "X . . ." not in text.rpartition("undo\n")[2]
    empty = " . . . . . . .\n" * 6
    assert text.count(empty) == 2


@pytest.mark.parametrize("options", [[], ["--human", "second"], ["--moves", "4 4"]])
def test_undo_at_the_start_takes_nothing_back(options: list[str]) -> None:
    assert NO_MOVE in play("connect_four", *options, *QUICK, typed="undo quit")


def test_undo_continues_a_finished_game() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 a2 b1 b2 c1 undo c3 quit")
    assert "X wins" in text
    assert text.rpartition("record: ")[0].endswith("O move: quit\n")


def test_ctrl_c_between_two_searches_leaves_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_self: Dialogue) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Dialogue, "_engine_moves", interrupted)
    assert run("play", "tic_tac_toe", "-m", "uniform", "--human", "none").status == 130


def test_a_hint_shows_a_table_and_plays_no_move() -> None:
    text = play("tic_tac_toe", "--moves", "a1 b1 a2 b2", *QUICK, typed="hint quit")
    assert "visits" in text
    assert "line a3" in text
    assert text.count("to move") == 1


def test_a_resignation_loses_and_can_be_undone() -> None:
    text = play("connect_four", *QUICK, typed="resign resign undo new quit")
    assert "Red (X) resigns: Yellow (O) wins" in text
    assert "the game is over" in text
    assert text.count("Red (X) to move") == 3


def test_new_restarts_from_the_same_position() -> None:
    text = play("connect_four", "--moves", "4 4", *TWO_PERSONS, typed="1 new quit")
    assert text.count("Red (X) to move") == 2
    assert text.count("Yellow (O) to move") == 1


def test_help_lists_every_command() -> None:
    text = play("connect_four", *QUICK, typed="? quit")
    for command in ("hint", "undo", "moves", "board", "resign", "new", "quit"):
        assert f"  {command} " in text


def test_moves_lists_the_legal_moves() -> None:
    text = play("tic_tac_toe", "--moves", "a1 b2", *QUICK, typed="moves quit")
    assert "legal moves: b1 c1 a2 c2 a3 b3 c3" in text
    text = play("gomoku", *QUICK, typed="moves zz quit")
    assert text.count("legal moves:") == 1
    assert "and 195 more" in text
    assert "type moves to list the legal moves, or help" in text


def test_a_pass_is_always_listed() -> None:
    text = play("go", "-p", "board_size=9", *QUICK, typed="moves help quit")
    assert " pass and 51 more\n" in text
    assert "Type a move, for example A9 or pass, or:" in text
    assert "pass" not in play("othello", *QUICK, typed="moves help quit")


def test_a_pass_is_a_move() -> None:
    text = play("go", "-p", "board_size=5", *TWO_PERSONS, typed="pass pass quit")
    assert "wins" in text


def test_a_game_can_start_from_a_board(tmp_path: Path) -> None:
    path = tmp_path / "board.txt"
    path.write_text("...\n.X.\n..O\n")
    text = play("tic_tac_toe", "--board", str(path), *TWO_PERSONS, typed="a1 undo undo quit")
    assert "2 . X ." in text
    assert NO_MOVE in text


def test_occupied_points_and_full_columns_are_explained() -> None:
    text = play("gomoku", "-p", "board_size=9", *TWO_PERSONS, typed="e5 e5 quit")
    assert "e5 is occupied by Black. type moves to list" in text
    text = play("connect_four", "--moves", "1 1 1 1 1 1", *TWO_PERSONS, typed="1 quit")
    assert "column 1 is full" in text
    assert "is occupied" not in play("go", "-p", "board_size=5", *TWO_PERSONS, typed="pass quit")


def test_a_game_of_go_ends_with_its_score() -> None:
    text = play("go", "-p", "board_size=5", *TWO_PERSONS, typed="c3 pass pass quit")
    assert "Black (X) wins by 17.5 (Black 25, White 0 + 7.5)" in text
    text = play("go", "-p", "board_size=5", *TWO_PERSONS, typed="pass pass quit")
    assert "White (O) wins by 7.5 (Black 0, White 0 + 7.5)" in text


def test_a_game_is_recorded_and_can_be_loaded(state_home: Path) -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="a1 a2 b1 quit")
    (record,) = (state_home / "pyengine" / "games").iterdir()
    assert text.rstrip().endswith(f"record: {record}")
    assert record.read_text().splitlines() == [
        "pyengine game",
        "game: tic_tac_toe",
        "moves: a1 a2 b1",
        "actions: 0 3 1",
        "result: ",
    ]
    text = play("tic_tac_toe", "--load", str(record), *TWO_PERSONS, typed="b2 c1 quit")
    assert "1 X X ." in text
    assert "X wins\n" in text
    assert "1 X X ." in play("tic_tac_toe", *TWO_PERSONS, typed=f"c3;load {record};quit")


@pytest.mark.parametrize("game", ["go(board_size=5)", "gomoku(board_size=9)"])
def test_a_game_is_saved_as_sgf_and_loaded(game: str, tmp_path: Path) -> None:
    sgf = pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    text = play(game, *TWO_PERSONS, typed=f"c3;d4;b2;save {file};quit")
    assert f"saved in {file}" in text
    record = sgf.Sgf_game.from_bytes(file.read_bytes())
    assert [node.get_move() for node in record.get_main_sequence()][1:] == [
        ("b", (2, 2)),
        ("w", (3, 3)),
        ("b", (1, 1)),
    ]
    text = play(game, *TWO_PERSONS, typed=f"load {file};undo;quit")
    assert "3 . . X" in text


@pytest.mark.parametrize(
    ("game", "typed", "result"),
    [
        ("go(board_size=5)", "c3;pass;pass", "B+17.5"),
        ("go(board_size=5)", "pass;pass", "W+7.5"),
        ("go(board_size=5)", "c3;resign", "B+R"),
        ("gomoku(board_size=9)", "a1;b1;a2;b2;a3;b3;a4;b4;a5", "B+"),
    ],
)
def test_a_saved_sgf_has_the_result_and_becomes_training_data(
    game: str, typed: str, result: str, tmp_path: Path
) -> None:
    sgf = pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    play(game, *TWO_PERSONS, typed=f"{typed};save {file};quit")
    assert sgf.Sgf_game.from_bytes(file.read_bytes()).get_root().get("RE") == result
    loaded = pyengine.load_game(game)
    report = import_sgf(file, tmp_path / "data", loaded, pyengine.ModelSpec.alphago_zero(loaded))
    assert (report.games, report.skipped) == (1, {})


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ("GM[4]SZ[5]", "got another game: GM[4]"),
        ("SZ[5];B[aa];AW[bb]", "got set-up stones after the first move: AW after move 1"),
        ("SZ[5]KM[6.5]", "got a komi of 6.5; to load it, run pyengine play go --load"),
        ("SZ[9]", "expected 5x5, got 9x9; to load it, run pyengine play go --load"),
        ("GM[x]SZ[5]", "expected a game of go"),
        ("SZ[5];B[Q16]", "[Q16] is not a point on a 5x5 board"),
    ],
)
def test_sgf_with_other_rules_is_refused(properties: str, words: str, tmp_path: Path) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    file.write_text(f"(;FF[4]{properties};B[cc])")
    text = play("go(board_size=5)", *TWO_PERSONS, typed=f"load {file};quit")
    assert words in " ".join(text.split())
    assert ("to load it, run" in text) == ("to load it" in words)


def test_the_command_for_a_file_with_other_rules_quotes_its_name(tmp_path: Path) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "my game.sgf"
    file.write_text("(;FF[4]SZ[9];B[cc])")
    text = play("go(board_size=5)", *TWO_PERSONS, typed=f"load {file};quit")
    assert f"run pyengine play go --load '{file}'" in " ".join(text.split())


@pytest.mark.parametrize(
    ("properties", "game"),
    [
        ("SZ[5]KM[5.5]RU[Japanese]", "go(board_size=5,komi=5.5,"),
        ("SZ[5]PYENGINE[go(board_size=5,suicide=true)]", "go(board_size=5,komi=7.5,"),
        ("SZ[5]RU[Tromp-Taylor]", "go(board_size=5,komi=7.5,superko=positional,suicide=true"),
        ("SZ[5:7]KM[375]", "go(rows=7,columns=5,komi=7.5,"),
        ("SZ[5]KM[]", "go(board_size=5,komi=7.5,"),
    ],
)
def test_sgf_is_loaded_with_the_rules_in_the_file(
    properties: str, game: str, tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    file.write_text(f"(;FF[4]{properties};B[cc])")
    text = play("go", "--load", str(file), *TWO_PERSONS, typed="quit")
    assert text.startswith(game)
    assert f"{5 if ':' in properties else 3} . . X . ." in text
    assert ("suicide=true" in text) == ("suicide" in properties or "Taylor" in properties)


def test_moves_are_loaded_with_the_rules_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    play("othello", "-p", "board_size=6", *TWO_PERSONS, typed=f"b3;save {file}")
    text = play("othello", "--load", str(file), *TWO_PERSONS, typed="quit")
    assert text.startswith("othello(board_size=6)")
    assert "3 . X X X . ." in text


def test_explicit_rules_override_the_rules_in_a_file(tmp_path: Path) -> None:
    saved = tmp_path / "game.txt"
    saved.write_text("pyengine game\ngame: othello(board_size=6)\nmoves: c2\n")
    for game in (["othello(board_size=8)"], ["othello", "-p", "board_size=8"], ["connect_four"]):
        done = run("play", "--load", saved, *TWO_PERSONS, *game)
        assert done.status == 1
        assert f"expected a game of {game[0].partition('(')[0]}(" in done.err
        assert "got a game of othello(board_size=6)" in done.err


@pytest.mark.parametrize(
    ("content", "mover"),
    [
        ("AB[aa][bb];W[cc];B[dd]", "White (O) to move"),
        ("AB[aa][bb]", "White (O) to move"),
        ("AB[aa]AW[bb]", "Black (X) to move"),
        ("AB[aa]AW[bb]PL[W]", "White (O) to move"),
        ("AB[aa]AW[bb]PL[W];B[cc]", "White (O) to move"),
        (";AB[aa]AW[bb];B[cc]", "White (O) to move"),
        ("HA[2];B[aa];B[bb];W[cc]", "Black (X) to move"),
    ],
)
def test_a_game_with_setup_stones_is_loaded_and_saved(
    content: str, mover: str, tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file, again = tmp_path / "handicap.sgf", tmp_path / "again.sgf"
    file.write_text(f"(;FF[4]SZ[5]{content})")
    game = "go(board_size=5)"
    text = play(game, "--load", str(file), *TWO_PERSONS, typed=f"save {again};quit")
    assert "5 X . . . ." in text
    assert mover in text
    loaded_again = play(game, "--load", str(again), *TWO_PERSONS, typed="quit")
    board, board_again = (output[output.index("  A B") :] for output in (text, loaded_again))
    assert board_again.partition("quit")[0] == board.partition("save ")[0]


def test_saving_preserves_a_loaded_record_and_new_drops_it(tmp_path: Path) -> None:
    pytest.importorskip("sgfmill.sgf", reason="sgfmill is absent (extra `sgf`)")
    file, again, new = (tmp_path / f"{name}.sgf" for name in ("game", "again", "new"))
    file.write_text("(;SZ[5]RU[Japanese]PB[Somebody]KM[750];B[cc]C[good];W[tt];B[tt];W[aa])")
    typed = f"save {again};new;save {new};quit"
    text = play("go", "--load", str(file), *TWO_PERSONS, typed=typed)
    replaced = "the rules Japanese were replaced by Chinese"
    assert f"game.sgf: {replaced}\n" in text
    assert "game.sgf: a komi in an unusual form: KM[750], read as 7.5\n" in text
    assert "game.sgf: moves after the end: 1 after move 3\n" in text
    assert f"saved in {again}\n{replaced}\n" in text
    assert "PB[Somebody]" in again.read_text()
    assert "C[good]" in again.read_text()
    assert "Somebody" not in new.read_text()


def test_a_saved_game_includes_its_initial_board(tmp_path: Path) -> None:
    board, file = tmp_path / "board.txt", tmp_path / "game.txt"
    board.write_text("...\n.X.\n..O\n")
    play("tic_tac_toe", "--board", str(board), *TWO_PERSONS, typed=f"a1;save {file};quit")
    text = play("tic_tac_toe", *TWO_PERSONS, typed=f"load {file};undo;undo;quit")
    assert "1 X . ." in text
    assert NO_MOVE in text


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("save", "FILE: expected a path"),
        ("load", "FILE: expected a path"),
        ("save /nowhere/game.txt", "/nowhere"),
        ("save game.sgf", "SGF supports go and gomoku"),
        ("load nothing.txt", "nothing.txt"),
        ("load {other}", "expected a game of tic_tac_toe, got a game of connect_four"),
        ("load {wrong}", "expected a game of tic_tac_toe, got a file that begins with 'hello'"),
        ("load {illegal}", "is not legal"),
        ("load {binary}", "0xff"),
        ("load {empty}", 'a file without a line "moves:"'),
        ("load {numbers}", "'x'"),
    ],
)
def test_a_bad_file_is_explained_and_the_game_continues(
    typed: str, words: str, tmp_path: Path
) -> None:
    contents = {
        "other": "pyengine game\ngame: connect_four(rows=6,columns=7)\nmoves: 4\n",
        "wrong": "hello\n",
        "illegal": "pyengine game\ngame: tic_tac_toe\nmoves: a1 a1\n",
        "binary": "\xff",
        "empty": "pyengine game\ngame: tic_tac_toe\n",
        "numbers": "pyengine game\ngame: tic_tac_toe\nactions: 0 x\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="latin-1")
    files = {name: str(tmp_path / name) for name in contents}
    text = play("tic_tac_toe", *TWO_PERSONS, typed=f"a1;{typed.format(**files)};b1;quit")
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


def test_a_clock_limits_the_engine_and_is_shown() -> None:
    arguments = ("tic_tac_toe", "-m", "rollout", "--clock", "0.01+0")
    text = play(*arguments, typed="b2 quit")
    assert "0:00 - 0:00 X move: b2" in text
    assert "engine plays" in text


def test_only_a_move_adds_the_increment() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, "--clock", "5+60", typed="help;moves;a1;quit")
    assert "6:00 - 5:00 O move:" in text or "5:59 - 5:00 O move:" in text


def test_a_clock_restores_the_time_before_a_ply() -> None:
    clock = Clock.parse("1+5")
    for ply in range(3):
        assert clock.spend(ply % 2, 10.0)
        clock.press(ply % 2, ply + 1)
    assert clock.left == (50.0, 55.0)
    assert not clock.spend(1, 90.0)
    clock.go_back(2)
    assert clock.left == (55.0, 55.0)
    clock.reset()
    clock.go_back(2)
    assert clock.left == (60.0, 60.0)


def test_undo_after_a_loss_on_time_restores_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    read = dialogue.read_line

    def slowly(prompt: str) -> str:
        nonlocal now
        line = read(prompt)
        now += 10.0 if line == "b1" else 0.0
        return line

    monkeypatch.setattr(dialogue, "read_line", slowly)
    monkeypatch.setattr(dialogue, "time", FakeTime(lambda: now))
    text = play("tic_tac_toe", *TWO_PERSONS, "--clock", "0.1", typed="a1;b1;undo;c3;quit")
    assert text.count("loses on time") == 1
    after = text.partition("undo, save or quit? undo")[2]
    assert "0:06 - 0:06 X move: c3" in after
    assert "0:06 - 0:06 O move: quit" in after


class FakeTime:
    """The module ``time`` with a replaceable clock."""

    def __init__(self, monotonic: Any) -> None:
        self.monotonic = monotonic


def test_a_clock_does_not_override_the_simulations() -> None:
    text = play("tic_tac_toe", "-m", "rollout", "--clock", "5", "-n", "40", typed="b2 quit")
    assert "40 simulations" in text


def test_a_player_without_time_loses() -> None:
    arguments = ("connect_four", "-m", "rollout", "--human", "second", "--clock", "0.0001")
    text = play(*arguments, typed="quit")
    assert text.count("Red (X) loses on time: Yellow (O) wins") == 1
    assert "engine plays" not in text


def test_go_lets_the_engine_move_for_a_person() -> None:
    text = play("tic_tac_toe", *TWO_PERSONS, typed="go quit")
    assert text.count("engine plays") == 1


HEAPS = """
class Heap:
    names = "take 1", "take 2", "take 3"

    def __init__(self, moves=()):
        self.moves = list(moves)

    def left(self):
        return 10 - sum(self.moves) - len(self.moves)

    def current_player(self):
        return len(self.moves) % 2

    def legal_actions(self):
        return list(range(min(3, self.left())))

    def apply_action(self, action):
        self.moves.append(action)

    def is_terminal(self):
        return self.left() == 0

    def returns(self):
        return [1.0, -1.0] if len(self.moves) % 2 else [-1.0, 1.0]

    def clone(self):
        return type(self)(self.moves)

    def history(self):
        return self.moves

    def __str__(self):
        return f"{self.left()} left"

    def action_to_string(self, action):
        return self.names[action]

class Vague(Heap):
    names = "take", "take", "take"

    def __str__(self):
        return "a heap"

class Game:
    def __init__(self, state):
        self.new_initial_state = state

    def num_distinct_actions(self):
        return 3

def heap():
    return Game(Heap)

def vague():
    return Game(Vague)
"""


@pytest.fixture
def heaps(tmp_path: Path) -> Path:
    """Write two games: move names of two words, and one name for all moves."""
    file = tmp_path / "heaps.py"
    file.write_text(HEAPS)
    return file


def test_a_game_with_spaces_in_move_names_can_be_loaded(heaps: Path, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    typed = f"take 2;take 3;save {file};new;load {file}"
    text = play(f"{heaps}:heap", *TWO_PERSONS, typed=typed)
    assert "moves: take 2 take 3\n" in file.read_text()
    assert text.rpartition("load ")[2].splitlines()[1:3] == ["5 left", "first player move: "]


def test_a_game_with_ambiguous_move_names_can_be_loaded(heaps: Path, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    play(f"{heaps}:vague", *TWO_PERSONS, "--moves", "2", typed=f"1;save {file}")
    assert "actions: 1\n" in file.read_text()
    play(f"{heaps}:vague", *TWO_PERSONS, "--load", str(file), typed=f"0;save {file}")
    assert "actions: 2 1 0\n" in file.read_text()


@pytest.mark.parametrize("command", ["new", "load"])
def test_a_replaced_game_is_saved(command: str, tmp_path: Path, state_home: Path) -> None:
    other = tmp_path / "other.txt"
    play("connect_four", *TWO_PERSONS, typed=f"1;2;save {other}")
    before = set(state_home.rglob("*.txt"))
    typed = "4;4;new" if command == "new" else f"4;4;load {other}"
    play("connect_four", *TWO_PERSONS, typed=typed)
    written = [path.read_text() for path in set(state_home.rglob("*.txt")) - before]
    assert any("moves: 4 4\n" in text for text in written)


def test_a_failed_load_changes_nothing(tmp_path: Path, state_home: Path) -> None:
    text = play("connect_four", *TWO_PERSONS, typed=f"4;load {tmp_path}/none;4")
    assert f"{tmp_path}/none" in text
    (written,) = state_home.rglob("*.txt")
    assert "moves: 4 4\n" in written.read_text()
