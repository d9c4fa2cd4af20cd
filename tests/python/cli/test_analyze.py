"""``pyengine analyze``: files in, text, SGF, HTML and JSON out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pyengine
from commands import printed, run
from pyengine.cli import INTERRUPTED
from pyengine.data.ggf import write_ggf
from pyengine.review import ReviewInterrupted, review_game

FAST = ("-n", 8, "-t", 1)


@pytest.fixture
def moves(tmp_path: Path) -> Path:
    """Return a file with a list of moves of tic-tac-toe."""
    file = tmp_path / "moves.txt"
    file.write_text("1. b2 a1 2. c3 a3 3. a2 b3")
    return file


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """Return an SGF file."""
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[1]SZ[5]KM[2.5]PB[Ann]PW[Ben];B[cc];W[cb];B[bb])")
    return file


def test_a_list_of_moves_is_reviewed_as_the_game_that_is_named(moves: Path) -> None:
    text = printed("analyze", moves, "--game", "tic_tac_toe", *FAST)
    assert "The worst moves" in text
    assert "tic_tac_toe 3x3" in text


def test_sgf_gives_game_and_players_and_all_outputs_are_written(go: Path) -> None:
    sgf, html = go.with_name("out.sgf"), go.with_name("out.html")
    text = printed("analyze", go, "-m", "uniform", *FAST, "--sgf", sgf, "--html", html)
    assert text.startswith("Ann (Black) - Ben (White)\ngame:   go 5x5, komi 2.5")
    assert f"written: {sgf}" in text
    assert "Black wins" in sgf.read_text("utf-8")
    assert html.read_text("utf-8").startswith("<!doctype html>")


def test_ggf_is_reviewed_as_othello(tmp_path: Path) -> None:
    game = pyengine.load_game("othello(board_size=4)")
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    file = tmp_path / "game.ggf"
    file.write_text(write_ggf(game.new_initial_state(), state.history()))
    values = json.loads(printed("analyze", file, *FAST, "--json"))
    assert values["game"] == "othello(board_size=4)"
    assert values["positions"][0]["discs"] == [2, 2]


def test_several_games_go_to_a_directory_and_to_a_list(moves: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.txt", tmp_path / "out"
    other.write_text("a1 b1")
    out.mkdir()
    arguments = (moves, other, "-g", "tic_tac_toe", "-m", "uniform", *FAST)
    values = json.loads(printed("analyze", *arguments, "--json", "--html", out))
    assert [len(review["moves"]) for review in values] == [6, 2]
    assert sorted(path.name for path in out.iterdir()) == ["moves.html", "other.html"]
    assert f"{other}\n" in printed("analyze", *arguments)


def test_a_game_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(b"b2 a1 c3"))
    monkeypatch.setattr("pyengine.cli.analyze.sys", SimpleNamespace(stdin=stdin))
    values = json.loads(printed("analyze", "-", "-g", "tic_tac_toe", *FAST, "--json"))
    assert len(values["moves"]) == 3


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["{moves}"], 2, "give the game"),
        (["{moves}", "-p", "k=3"], 2, "--param needs --game"),
        (["{moves}", "-g", "tic_tac_toe", "--sgf", "{folder}/out.sgf"], 2, "SGF supports go"),
        (["{moves}", "-g", "tic_tac_toe", "--html", "{moves}"], 2, "would replace the input"),
        (["{moves}", "-g", "tic_tac_toe", "--html", "{folder}/none/x.html"], 2, "does not exist"),
        (["{moves}", "{moves}", "-g", "tic_tac_toe", "--html", "{folder}/x.html"], 2, "directory"),
        (["{moves}", "-g", "connect_four"], 1, "expected a game of connect_four, got move 1"),
        (["{folder}/none.sgf"], 1, "does not exist"),
        ([], 2, "Missing argument"),
    ],
)
def test_wrong_use_ends_with_status_2_and_a_bad_file_with_1(
    arguments: list[str], status: int, words: str, moves: Path, tmp_path: Path
) -> None:
    done = run("analyze", *(a.format(moves=moves, folder=tmp_path) for a in arguments), *FAST)
    assert done.status == status
    assert words in done.words
    assert done.out == ""


def test_ctrl_c_prints_and_writes_what_there_is(
    moves: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **more: Any) -> None:
        raise ReviewInterrupted(review_game(*arguments, **more))

    monkeypatch.setattr("pyengine.cli.analyze.review_game", interrupted)
    page = tmp_path / "page.html"
    done = run("analyze", moves, moves, "-g", "tic_tac_toe", *FAST)
    assert done.status == INTERRUPTED
    assert done.out.count("average of") == 1
    done = run("analyze", moves, "-g", "tic_tac_toe", *FAST, "--html", page)
    assert (done.status, page.exists()) == (INTERRUPTED, True)
