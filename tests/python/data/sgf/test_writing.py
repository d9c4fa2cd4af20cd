"""Writing SGF: new games, and games that continue a record."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import ConfigError, DataError

pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
pytest.importorskip("typer", reason="the extra cli is not installed")

from sgfmill import sgf_grammar

from pyengine.cli.play_record import save
from pyengine.data.game_file import read_game_file
from pyengine.data.sgf import read_sgf
from pyengine.data.sgf.read import first_game
from pyengine.data.sgf.write import write_sgf
from pyengine.games.outcomes import Loss, Lost

GO9 = pyengine.load_game("go", board_size=9)
GOMOKU = pyengine.load_game("gomoku", board_size=9)

RECORD = (
    "(;GM[1]FF[3]SZ[9]KM[6.5]RU[Japanese]PB[柯洁]PW[A \\] B]DT[2019-03-01]RE[B+R]AP[Other:1]"
    "HA[2]AB[gc][cg]C[at the start];W[ee]C[a \\\\ comment]LB[ee:1](;B[gg];W[cc]N[end])"
    "(;B[ff]C[better];W[fe]))"
)


def loaded(folder: Path, text: str) -> Any:
    """Load a file with this text, using the rules in it."""
    file = folder / "game.sgf"
    file.write_text(text, encoding="utf-8")
    return read_game_file(file, GO9)


def saved(
    folder: Path,
    before: Any,
    *names: str,
    undone: int = 0,
    lost: Lost | None = None,
) -> tuple[Any, str]:
    """Take moves back, play on, and save; return the saved tree and the note."""
    state = before.end.clone()
    for _ in range(undone):
        state.undo_action()
    for name in names:
        state.apply_action(state.string_to_action(name))
    start = state.clone()
    while start.history():
        start.undo_action()
    file = folder / "again.sgf"
    note = save(file, start, state, lost, before.record)
    assert str(read_game_file(file, state.game, exact=True).end) == str(state)
    return sgf_grammar.parse_sgf_game(file.read_bytes()), note


def test_continuing_a_loaded_game_preserves_its_content(tmp_path: Path) -> None:
    tree, note = saved(tmp_path, loaded(tmp_path, RECORD), "D4")
    root, move = tree.sequence
    assert {name: root[name] for name in ("PB", "PW", "DT", "AB", "HA", "C", "KM")} == {
        "PB": ["柯洁".encode()],
        "PW": [b"A \\] B"],
        "DT": [b"2019-03-01"],
        "AB": [b"gc", b"cg"],
        "HA": [b"2"],
        "C": [b"at the start"],
        "KM": [b"6.5"],
    }
    assert root["AP"] == [f"pyengine:{pyengine.__version__}".encode()]
    assert (root["RU"], root["CA"], root["FF"]) == ([b"Chinese"], [b"UTF-8"], [b"4"])
    assert note == "the rules Japanese were replaced by Chinese"
    assert "RE" not in root  # the game is not over
    assert move == {"W": [b"ee"], "C": [b"a \\\\ comment"], "LB": [b"ee:1"]}
    line, variation = tree.children
    assert line.sequence == [{"B": [b"gg"]}, {"W": [b"cc"], "N": [b"end"]}, {"B": [b"df"]}]
    assert variation.sequence == [{"B": [b"ff"], "C": [b"better"]}, {"W": [b"fe"]}]


def test_saving_a_loaded_game_unchanged_preserves_its_result(tmp_path: Path) -> None:
    tree, _ = saved(tmp_path, loaded(tmp_path, RECORD))
    assert tree.sequence[0]["RE"] == [b"B+R"]
    assert [len(child.sequence) for child in tree.children] == [2, 2]
    tree, _ = saved(tmp_path, loaded(tmp_path, "(;SZ[9];B[ee];W[resign])"))
    assert tree.sequence[0]["RE"] == [b"B+R"]
    assert "DT" not in tree.sequence[0]
    scored = loaded(tmp_path, "(;SZ[9]RE[W+0.5];B[ee];W[];B[])")  # without dead stones
    assert saved(tmp_path, scored)[0].sequence[0]["RE"] == [b"W+0.5"]
    resigned = loaded(tmp_path, "(;SZ[9]RE[B+R];B[ee])")
    root = saved(tmp_path, resigned, lost=(0, Loss.resigns))[0].sequence[0]
    assert root["RE"] == [b"W+R"]
    assert "DT" in root  # the game ended today


def test_a_new_continuation_becomes_the_main_line(tmp_path: Path) -> None:
    tree, _ = saved(tmp_path, loaded(tmp_path, RECORD), "D4", undone=2)
    assert [child.sequence[0]["B"] for child in tree.children] == [[b"df"], [b"gg"], [b"ff"]]


def test_a_played_variation_becomes_the_main_line(tmp_path: Path) -> None:
    tree, _ = saved(tmp_path, loaded(tmp_path, RECORD), "F4", "F5", undone=2)
    first, second = tree.children
    assert first.sequence == [{"B": [b"ff"], "C": [b"better"]}, {"W": [b"fe"]}]
    assert second.sequence[0] == {"B": [b"gg"]}


def test_moves_taken_back_become_a_variation(tmp_path: Path) -> None:
    tree, _ = saved(tmp_path, loaded(tmp_path, RECORD), undone=1)
    end, taken_back = tree.children[0].children
    assert end.sequence == [{}]
    assert taken_back.sequence[0]["W"] == [b"cc"]
    assert "RE" not in tree.sequence[0]


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[9]B[ee];W[cc])",
        "(;SZ[9]HA[2];B[gc];B[cg];W[ee])",
        "(;SZ[9];C[a];AB[gc];C[b];W[ee];C[c])",
        "(;SZ[9]PL[W];W[ee])",
        "(;SZ[9:7];B[ee];W[pass])",
        "(;SZ[9];B[ee];W[];B[tt];W[])",
    ],
)
def test_a_record_of_any_form_continues_from_the_same_position(text: str, tmp_path: Path) -> None:
    game = loaded(tmp_path, text)
    saved(tmp_path, game)
    if not game.end.is_terminal():
        saved(tmp_path, game, "A1", "B1")
        saved(tmp_path, game, undone=1)
    again = read_sgf(tmp_path / "again.sgf")
    assert again.board == game.end.game.board_shape


def test_a_new_game_has_date_rules_and_program(tmp_path: Path) -> None:
    start, end = GO9.new_initial_state(), GO9.new_initial_state([40, 39])
    save(tmp_path / "game.sgf", start, end, (1, Loss.resigns))
    record = read_sgf(tmp_path / "game.sgf")
    root = record.tree.sequence[0]
    assert root["DT"] == [datetime.date.today().isoformat().encode()]
    assert root["AP"][0].startswith(b"pyengine:")
    assert (record.rules, str(record.result), record.komi) == ("Chinese", "B+R", 7.5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("go(board_size=9,superko=positional)", "Chinese"),
        ("go(board_size=9,superko=simple)", "Chinese"),
        ("go(board_size=9,superko=situational)", "AGA"),
        ("go(board_size=9,superko=situational,suicide=true)", "NZ"),
        ("go(board_size=9,suicide=true,max_game_length=50)", "Tromp-Taylor"),
        ("go(board_size=9,superko=simple,suicide=true)", ""),
        ("gomoku(board_size=9,rule=renju)", "Renju"),
        ("gomoku(board_size=9,win_length=4)", "Freestyle"),
    ],
)
def test_rules_have_their_usual_name_and_are_read_back_exactly(text: str, name: str) -> None:
    game = pyengine.load_game(text)
    record = first_game(write_sgf(game.new_initial_state(), [3]))
    assert record.rules == name
    assert record.game(game.name) == game
    assert record.replay(game).notes == {}


def test_loading_a_game_reports_unusual_properties(tmp_path: Path) -> None:
    game = loaded(tmp_path, "(;SZ[9]KM[375]RU[Japanese];B[tt];W[tt];B[tt])\n(;SZ[9])")
    assert game.notes == (
        "a komi in an unusual form: KM[375], read as 7.5",
        "several games: read the first of 2",
        "moves after the end: 1 after move 2",
        "the rules Japanese were replaced by Chinese",
    )


def test_readable_damaged_records_survive_writing(rng: random.Random) -> None:
    parts = b"[ ] ( ) ; B[aa] W[] AE[cc] PL[W] HA[2] CA[x]".split()
    read = 0
    for _ in range(200):
        content = bytearray(RECORD.encode())
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(content))
            content[at : at + rng.choice((0, 1, 6))] = rng.choice(parts)
        try:
            record = first_game(bytes(content))
            replay = record.replay(record.game())
        except (DataError, ConfigError):
            continue
        read += 1
        for plies in {len(replay.actions), max(len(replay.actions) - 1, 0)}:
            again = first_game(write_sgf(replay.start, replay.actions[:plies], record=record))
            assert again.replay(replay.end.game).actions == replay.actions[:plies]
    assert read > 25
