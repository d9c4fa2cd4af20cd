"""A game in a user's file: every command and every algorithm, and what is said of wrong files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pyengine
from toy_games import ToyGame, ToyState

common = pytest.importorskip("pyengine.cli.common", reason="the extra cli is not installed")

NIM = """
from dataclasses import dataclass

from heap import Heap

@dataclass
class Nim:
    stones: int = 15

    def num_distinct_actions(self):
        return 3

    def new_initial_state(self):
        return Heap(self.stones)

class Player:
    pass

def small():
    return SMALL

SMALL = Nim(5)
NUMBER = 3
"""

HEAP = '''
class Heap:
    """Whoever takes the last of the stones, one to three at a time, wins."""

    def __init__(self, left, player=0):
        self.left, self.player = left, player

    def current_player(self):
        return self.player

    def legal_actions(self):
        return list(range(min(3, self.left)))

    def apply_action(self, action):
        self.left, self.player = self.left - action - 1, 1 - self.player

    def is_terminal(self):
        return self.left == 0

    def returns(self):
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def clone(self):
        return Heap(self.left, self.player)

    def action_to_string(self, action):
        return f"take{action + 1}"
'''


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "heap.py").write_text(HEAP)  # the file's own folder is where it imports from
    path = tmp_path / "nim.py"
    path.write_text(NIM)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("heap", "own_game_nim"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return path


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pyengine.cli", *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("algorithm", ["puct", "gumbel", "uct", "flat_ucb"])
def test_every_algorithm_searches_it(file: Path, algorithm: str) -> None:
    text = run("search", f"{file}:Nim", "--algorithm", algorithm, "-p", "stones=7", "--json")
    found = json.loads(text)
    assert found["best"] == "take3"
    assert found["config"]["algorithm"] == algorithm


def test_it_is_solved_and_played_and_two_players_meet_in_it(file: Path) -> None:
    solved = json.loads(run("solve", f"{file}:Nim", "--json"))
    assert (solved["value"], solved["best"], solved["exact"]) == (1.0, "take3", True)
    game = f"{file}:SMALL"
    assert "first player wins" in run("play", game, "--human", "none", "--algorithm", "gumbel")
    arguments = ("--games", "4", "--plies", "0", "-n", "50", "--json")
    result = json.loads(run("match", game, "rollout", "random", *arguments))
    assert result["wins"] + result["draws"] + result["losses"] == 4


@pytest.mark.parametrize("command", ["search", "solve", "play"])
def test_a_game_without_words_shows_its_moves_and_no_address(file: Path, command: str) -> None:
    settings = {
        "search": ["-n", "20"],
        "solve": [],
        "play": ["-n", "20", "--human", "none"],
    }
    text = run(command, f"{file}:SMALL", *settings[command])
    assert "moves: " in text
    assert " object at 0x" not in text


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("", [], "found 'NAME' without a"),
        ("", ["stones=3"], "found 'NAME' without a"),
        (":Nims", [], "found 'Nims'; did you mean Nim?"),
        (":Chess", [], "expected one of Nim, small, SMALL, found 'Chess'"),
        (":SMALL", ["stones=3"], "expected no --param"),
        (":Nim", ["heaps=3"], "unexpected keyword argument 'heaps'"),
        (":NUMBER", [], "needs num_distinct_actions"),
    ],
)
def test_what_is_no_game_is_wrong_use(file: Path, name: str, params: list[str], words: str) -> None:
    with pytest.raises(Exception, match=words.replace("NAME", str(file))) as caught:
        common.game_from(f"{file}{name}", params)
    assert type(caught.value).__name__ == "BadParameter"


@pytest.mark.parametrize("text", ["foo:bar.py", "C:\\games\\nim.py"])
def test_a_file_without_a_name_is_one_whatever_stands_before_it(text: str) -> None:
    with pytest.raises(
        pyengine.ConfigError, match=r"expected FILE\.py:NAME, found .* without a NAME"
    ):
        pyengine.load_game(text)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(Exception, match=r"expected FILE\.py:NAME .* found no file 'no/such\.py'"):
        common.game_from("no/such.py:Nim", None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"def game(:", "is no Python: invalid syntax"),
        (b"a\0b", "is no Python"),
        (b"text = '\xff\xfe'", "is no Python"),
        (b"# -*- coding: junk -*-", "is no Python: unknown encoding"),
        (None, "cannot be read: .*Is a directory"),
    ],
)
@pytest.mark.parametrize("use", [pyengine.load_game, lambda text: common.game_from(text, None)])
def test_a_file_that_is_no_python_is_one_message(
    tmp_path: Path, content: bytes | None, words: str, use: Callable[[str], object]
) -> None:
    path = tmp_path / "wrong.py"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(Exception, match=f"wrong.py {words}") as caught:
        use(f"{path}:Nim")
    assert type(caught.value).__name__ in ("BadParameter", "ConfigError")


def test_a_file_that_leads_to_itself_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "loop.py"
    path.symlink_to(path)
    with pytest.raises(pyengine.ConfigError, match=r"loop\.py cannot be read"):
        pyengine.load_game(f"{path}:Nim")


@pytest.mark.skipif(os.name == "nt", reason="a folder in use is not removed on Windows")
def test_a_module_is_looked_for_where_the_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(pyengine.ConfigError, match=r"expected package\.module:NAME"):
        pyengine.load_game("absent_module:Game")


def test_a_file_that_may_not_be_read_is_one_message(file: Path) -> None:
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(pyengine.ConfigError, match=r"nim\.py cannot be read: .*Permission denied"):
        pyengine.load_game(f"{file}:Nim")


def test_a_module_that_is_no_python_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "no_python_here.py").write_text("game = (")
    with pytest.raises(pyengine.ConfigError, match=r"no_python_here cannot be imported: .*line 1"):
        pyengine.load_game("no_python_here:Nim")


def test_a_name_may_differ_from_another_by_capitals_alone() -> None:
    class Capitals(ToyState):
        def action_to_string(self, action: int) -> str:
            return ("bxc3", "Bxc3", "d4")[action]

    state = pyengine.as_game(ToyGame(Capitals)).new_initial_state()
    assert [common.find_action(state, text) for text in ("bxc3", "Bxc3", "D4")] == [0, 1, 2]
    with pytest.raises(pyengine.IllegalActionError):
        common.find_action(state, "BXC3")


def test_what_the_file_raises_passes_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0")
    with pytest.raises(ZeroDivisionError):
        common.game_from(f"{path}:Nim", None)


def test_the_game_is_the_one_of_the_file(file: Path) -> None:
    game = common.game_from(f"{file}:Nim", ["stones=9"])
    assert pyengine.solve(game.new_initial_state()).value == 1.0  # 9 is no multiple of 4
