"""The ``pyengine`` command: help, exit status and error messages."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

import pytest

import pyengine
from commands import restored_signals, run
from pyengine.cli import games as games_command
from pyengine.cli import in_names, main
from pyengine.cli.app import app
from pyengine.eval.bundled import bundled_runs, strength_in_words

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc and limits")
FULL = 100  # maximum bytes of a file on the "full" disk
QUICK = "--simulations 4 --threads 1"
SELF_PLAY = f"selfplay tic_tac_toe --model uniform --games 2 {QUICK}"
MATCH = "match tic_tac_toe random random --games 2"
BENCH = "bench tree --quick --seconds 0.05"
TUNE = "bench --tune connect4 --seconds 0.05"


# --- help


def commands() -> list[str]:
    functions = [each.callback for each in app.registered_commands if each.callback]
    names = [function.__name__.replace("_", "-") for function in functions]
    return ["", *names, *(f"convert {name}" for name in ("int8", "leela", "shards", "sgf"))]


@pytest.mark.parametrize("command", commands())
def test_help_begins_with_examples(command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.status == 0
    usage, example, *_ = [line.strip() for line in done.out.splitlines() if line.strip()]
    assert usage.startswith("Usage: pyengine")
    assert example.startswith(f"pyengine {command}".strip())


def test_options_are_grouped_in_panels() -> None:
    text = run("play", "--help").out
    for panel in ("Play", "Position", "Evaluator", "Search"):
        assert f"─ {panel} ─" in text


def test_the_help_of_a_search_setting_is_its_documentation() -> None:
    words = " ".join(run("match", "--help").out.replace("│", " ").split())
    (threads,) = (field for field in pyengine.SearchConfig.fields() if field.name == "threads")
    assert threads.meaning[1:40] in words


def test_version_prints_the_package_version() -> None:
    assert run("--version").out == f"pyengine {pyengine.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("search connect_four -m uniform -n 4", "move visits share prior value wins"),
        ("solve tic_tac_toe", "exact yes"),
        ("games tic_tac_toe", "tic_tac_toe: three in a row on a board of 3x3."),
    ],
)
def test_lines_are_not_truncated_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, arguments: str, line: str
) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    assert line in " ".join(run(*arguments.split()).out.split())


def test_an_unknown_width_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert "Usage: pyengine play" in run("play", "--help").out
    monkeypatch.setenv("COLUMNS", "0")
    assert 'unknown game "chess"' in run("search", "chess").words


def test_without_the_extra_the_command_names_it_and_the_library_works() -> None:
    code = (
        "import sys, pyengine\n"
        "assert not {'typer', 'rich'} & set(sys.modules)\n"
        "sys.modules['typer'] = None\n"
        "from pyengine.cli import main; sys.exit(main(['search', 'go']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'pyengine-search[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


# --- errors


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder with a subfolder, a junk file and a file that is not text."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("junk")
    Path("bytes").write_bytes(b"\xff")
    Path("folder").mkdir()


WRONG_USE = [
    # arguments
    ("nonsense", "No such command"),
    ("search", "Missing argument"),
    ("search a\x1b[31m", r"a\x1b[31m"),
    ("search go --param board_size=99", "board_size"),
    ("search go --param board_size", "NAME=VALUE"),
    ("search connect_four --moves 9", "--moves"),
    ("search tic_tac_toe --moves a1,a1", "--moves"),
    ("search connect_four --model conect4", "did you mean connect4?"),
    ("search connect_four connect4", "for an evaluator: --model connect4"),
    ("games connect4 connect4", "extra argument"),
    ("search connect_four --model rollout --provider cpu", "for networks"),
    ("search connect_four --set c_puct", "NAME=VALUE"),
    ("play connect_four --human everybody", "human"),
    ("play connect_four --clock fast", "expected a time such as"),
    ("play connect_four --clock 0", "--clock 0: clock: main"),
    (f"{SELF_PLAY} --out new --preset junk", "--preset"),
    ("match tic_tac_toe random rndom", "rndom is neither a file nor one of"),
    ("match tic_tac_toe random value:tic_tac", "tic_tac is neither a file nor one of"),
    (f"{MATCH} --openings-evaluator unifrm", "unifrm is neither a file nor one of"),
    ("doctor --quick", "--gpu"),
    ("doctor --gpu --model file", "the game of file is unknown"),
    ("bench junk", "unknown suite junk"),
    ("bench trees", "did you mean tree?"),
    ("bench tree --skip tree", "excludes every suite"),
    ("bench --tune connect4 --skip tree", "--tune cannot be combined"),
    ("bench --tune junk", "--game"),
    ("bench gpu --minutes 0", "--minutes"),
    ("bench tree --trace t.json", "--trace"),
    ("bench tree --only uniform", "--only"),
    ("bench graph --games 5", "--games"),
    ("train conect4", "did you mean connect4?"),
    ("train --rollout-policy .", "requires --output"),
    ("train --rollout-policy nowhere -o p.npz", "'nowhere' does not exist"),
    ("train --rollout-policy . -o p.npz run.toml", "does not take RUN.toml"),
    ("train run.toml -o p.npz", "require --rollout-policy"),
    # files that are read
    ("search connect_four --board missing", "missing"),
    ("search connect_four --board bytes", "bytes"),
    ("search connect_four --config missing", "missing"),
    ("search connect_four --config file", "TOML"),
    ("search connect_four --model connect4 --spec missing", "missing"),
    ("search connect_four --model connect4 --spec file", "must be JSON"),
    # files that are written
    (f"{MATCH} --record missing/record", "missing"),
    (f"{TUNE} --json folder", "folder"),
    (f"{BENCH} --json folder", "folder"),
]

FAILURES = [
    ("search connect_four --model file", "file is not an ONNX file"),
    ("search connect_four --provider junk", "junk"),
    (f"{MATCH} --record file", "file"),
    (f"{SELF_PLAY} --out file", "file"),
    (f"{BENCH} --out file", "file"),
]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("status", "arguments", "words"),
    [*((2, *case) for case in WRONG_USE), *((1, *case) for case in FAILURES)],
)
def test_wrong_use_exits_2_and_another_error_1(status: int, arguments: str, words: str) -> None:
    done = run(*arguments.split(" "))
    assert done.status == status, done
    assert words in done.words
    assert done.words.lower().count("error") <= 2
    assert done.out == ""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("file", ["file", "missing.toml", "folder"])
def test_an_unreadable_run_file_is_named(file: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    done = run("train", file)
    assert done.status in (1, 2)
    assert file in done.words


def test_a_finished_game_is_shown_with_its_result() -> None:
    over = ("connect_four", "--moves", "1 2 1 2 1 2 1")
    for command in ("search", "solve"):
        done = run(command, *over)
        assert done.status == 2
        assert done.out.endswith("1 2 3 4 5 6 7\nRed (X) wins\n")
        assert done.err.endswith("the game is over: Red (X) wins\n")
        assert run(command, *over, "--json").out == ""


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "go: action 26 (D5) is not legal for player 1",
            "go: D5 is not legal for the second player",
        ),
        ("go: action 99 does not exist, expected 0..25", "go: move number 99 does not exist"),
        ("expected player 0 or 1 to move", "expected the first or the second player to move"),
        ("player a: no action", "player a: no action"),
    ],
)
def test_errors_of_the_engine_name_moves_and_players(message: str, words: str) -> None:
    assert words in in_names(message)


def test_no_command_prints_numbers_of_moves_and_players(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    texts = []
    for actions in ("0 0", "0 77"):
        file.write_text(f"pyengine game\ngame: tic_tac_toe\nactions: {actions}\n")
        names = ("search", "play", "solve")
        texts += [run(name, "tic_tac_toe", "--load", file).err for name in names]
    texts.append(run("search", "go(board_size=5)", "--moves", "A1 A1").err)
    texts.append(run(*SELF_PLAY.split(), "--out", tmp_path / "out").out)
    for text in texts:
        assert text
        assert not re.search(r"\baction \d|\bplayer [01]\b", text)


# --- streams and disks


@contextlib.contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limit the size of files to a few bytes."""
    import resource

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@LINUX
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", [f"{TUNE} --json file", f"{SELF_PLAY} --out out"])
def test_a_full_disk_is_an_error_and_destroys_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_disk(monkeypatch):
        done = run(*command.split())
    assert done.status == 1
    assert "cannot be written" in done.words
    assert Path("file").read_text() == "junk"
    assert not list(Path().rglob("*.tmp"))


@LINUX
def test_a_match_on_a_full_disk_keeps_earlier_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record"
    assert run(*MATCH.split(), "--record", record).status == 0
    before = record.read_bytes()
    more = (*MATCH.removesuffix("2").split(), 8, "--record", record)
    with full_disk(monkeypatch):
        done = run(*more)
    assert done.status == 1
    assert "record cannot be written" in done.words
    assert record.read_bytes().startswith(before)
    assert run(*more).status == 0


def run_into(output: TextIO, *arguments: str) -> tuple[int, str]:
    """Run a command whose stdout is a file; return its status and errors."""
    err = io.StringIO()
    with restored_signals(), redirect_stdout(output), redirect_stderr(err):
        status = main(arguments)
    return status, err.getvalue()


@LINUX
def test_unwritable_output_is_a_one_line_error() -> None:
    with Path("/dev/full").open("w") as output:
        status, err = run_into(output, "train", "--show", "connect4")
    assert status == 1
    assert err == "error: the output cannot be written: No space left on device\n"


def test_a_closed_pipe_causes_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        assert run_into(output, "games", "--json") == (1, "")


@LINUX
def test_a_command_runs_with_closed_streams() -> None:
    command = f"'{sys.executable}' -m pyengine search tic_tac_toe -n 4 >&- <&- 2>&-"
    assert subprocess.run(command, shell=True, timeout=60, check=False).returncode == 0


# --- games and run files


def test_games_lists_every_game_and_network_with_its_strength() -> None:
    text = run("games").out
    for name in (*pyengine.registered_games(), *pyengine.bundled_models()):
        assert re.search(rf"^ *{name} ", text, re.MULTILINE), name
        if name in pyengine.bundled_models():
            assert strength_in_words(name)
            assert len(strength_in_words(name)) <= 48
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_games_shows_every_parameter_of_a_game(name: str) -> None:
    text = run("games", name).out
    assert text.startswith(f"{name}: ")
    for parameter in pyengine.load_game(name).params:
        assert f"\n    {parameter} (" in text
    assert "`" not in text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mnk(rows=4)", "rows (an integer in 1..20, here 4)"),
        ("gomoku", "rule (one of 'freestyle' 'standard' 'renju', here 'freestyle')"),
        ("go", "suicide (true or false, here False)"),
    ],
)
def test_games_shows_what_parameters_of_an_undescribed_game_accept(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games_command, "_descriptions", dict)  # as for an installed game
    assert line in run("games", name).out.replace('"', "'")


def test_games_shows_levels_with_elo_and_other_programs() -> None:
    for name in ("connect_four", "connect4"):
        text = run("games", name).out
        assert re.search(r"^ +1 +random +random moves +0", text, re.MULTILINE)
        assert re.search(r"^ +UCT with 1,000 playouts +\d+ +\d+ to [\d,]+", text, re.MULTILINE)
    assert "Elo" in run("games", "go(board_size=9)").out
    assert "level" not in run("games", "mnk").out


def test_games_as_json_have_parameters_networks_and_levels() -> None:
    entry = json.loads(run("games", "go", "--json").out)["go"]
    assert entry["params"] == pyengine.load_game("go").params
    assert "go9" in entry["networks"]
    entries = json.loads(run("games", "--json").out)
    assert set(entries) >= {*pyengine.registered_games(), "go9", "connect4"}
    assert entries["go9"]["kind"] == "network"
    assert entries["othello"]["levels"][0]["name"] == "random"


def test_a_users_game_is_described_by_its_parameters(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from toy_games import Matches, ToyGame\nmine = ToyGame(Matches)\n")
    text = run("games", f"{file}:mine").out
    assert text == f"{file}:mine: 3 actions, no named parameters\n"
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    text = run("games", "pyspiel:hex(board_size=7)").out
    assert text.startswith("pyspiel:hex(board_size=7):")
    assert "\n    board_size (here 7)\n" in text


def test_bundled_run_files_can_be_printed_and_edited(tmp_path: Path) -> None:
    names = {"connect4", "gomoku", "tic_tac_toe", "go7", "go9"}
    assert names <= set(bundled_runs())
    assert "connect4" in run("train", "--show").out
    file = tmp_path / "mine.toml"
    file.write_text(run("train", "tic_tac_toe", "--show").out)
    assert 'name = "tic_tac_toe"' in file.read_text()
    assert run("train", file, "--show").out == file.read_text()
