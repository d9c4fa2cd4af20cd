"""``pyengine games``, run files by name, and ``python -m pyengine``."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pyengine
import toy_games
from pyengine.eval.bundled import bundled_runs

pytest.importorskip("typer", reason="the extra cli is not installed")


def run(*arguments: str, status: int = 0) -> str:
    """What the command prints; on stderr where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "pyengine", *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_every_game_is_listed_with_every_parameter() -> None:
    text = run("games")
    for name in pyengine.registered_games():
        assert f"{name}: " in text
        alone = run("games", name)
        assert alone.startswith(f"{name}: ")
        for parameter in pyengine.load_game(name).params:
            assert f"\n    {parameter} (" in alone
    assert "`" not in text


def test_a_game_as_json_has_its_defaults() -> None:
    found = json.loads(run("games", "go", "--json"))
    assert found == {"go": pyengine.load_game("go").params}
    assert set(json.loads(run("games", "--json"))) == set(pyengine.registered_games())


def test_a_game_with_parameters_is_told_as_without() -> None:
    assert run("games", "go(board_size=9)") == run("games", "go")


OWN_GAME = f"""
import sys
sys.path.insert(0, {str(Path(toy_games.__file__).parent)!r})
from toy_games import Matches, ToyGame
mine = ToyGame(Matches)
"""


def test_a_game_of_other_peoples_code_is_told_by_its_parameters(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN_GAME)
    assert run("games", f"{file}:mine") == f"{file}:mine: 3 actions, no named parameters\n"
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    text = run("games", "pyspiel:hex(board_size=7)")
    assert text.startswith("pyspiel:hex(board_size=7):")
    assert "\n    board_size (here 7)\n" in text


def test_a_game_that_is_none_comes_with_a_likely_name() -> None:
    words = " ".join(run("games", "gomok", status=2).replace("│", " ").split())
    assert "did you mean gomoku?" in words


def test_run_files_are_in_the_package() -> None:
    assert {"connect4", "gomoku", "tic_tac_toe", "go7", "go9"} <= set(bundled_runs())
    assert "connect4" in run("train", "--show")
    settings = tomllib.loads(run("train", "connect4", "--show"))
    assert settings["game"]["name"] == "connect_four"


def test_a_run_file_that_is_shown_can_be_begun_from(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(run("train", "tic_tac_toe", "--show"))
    assert run("train", str(file), "--show") == file.read_text()


def test_a_run_that_is_none_is_refused_with_the_names() -> None:
    words = " ".join(run("train", "conect4", status=2).replace("│", " ").split())
    assert "conect4 is neither a file nor one of: connect4" in words
