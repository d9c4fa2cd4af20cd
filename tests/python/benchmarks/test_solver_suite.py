"""The suite of exact search: its positions, and its plain search. Nothing here is timed."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path

import pytest

import pyengine
from pyengine.exact import minimax

PACKAGE = "pyengine.benchmarks"
pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
suite = importlib.import_module(f"{PACKAGE}.solver")
common = importlib.import_module(f"{PACKAGE}.common")


@pytest.mark.parametrize(("name", "empties"), [("tic_tac_toe", 6), ("othello(board_size=4)", 6)])
def test_the_plain_search_and_minimax_agree(name: str, empties: int) -> None:
    game = pyengine.load_game(name)
    rows, columns = game.board_shape
    rng = random.Random(1)
    for _ in range(30):
        state = suite.random_state(game, rows * columns - empties, rng)
        value, nodes = suite.plain(state)
        assert value == minimax(state)[0]
        assert nodes > 1


def test_without_published_positions_random_play_makes_them_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    for subject in suite.SUBJECTS:
        notes: list[str] = []
        found = suite.positions_of(subject, common.Options(), notes)
        assert len(found) == subject.count
        assert all(position.score is None for position in found)
        least, most = subject.stones
        assert all(least <= suite.stones_of(position.state) <= most for position in found)
        assert [note.split(":")[0] for note in notes] == [subject.row]
        assert [p.state.history() for p in found] == [
            p.state.history() for p in suite.made_up(subject)
        ]


def test_published_positions_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    (tmp_path / "oracles" / "05-connect-four").mkdir(parents=True)
    (tmp_path / "oracles" / "04-othello").mkdir()
    pons = tmp_path / "oracles" / "05-connect-four" / "pons_L3_R1.csv"
    pons.write_text("moves,score,column_scores\n414141,18,\n")
    ended = {"board": "-OXXXXXX" + 56 * "X", "to_move": "X", "empties": 1, "best_score": 64}
    early = ended | {"empties": 21}
    ffo = tmp_path / "oracles" / "04-othello" / "ffo_endgames.jsonl"
    ffo.write_text(json.dumps(ended) + "\n" + json.dumps(early) + "\n")
    (four,) = suite.published(suite.SUBJECTS[0])
    assert (four.state.history(), four.score) == ([3, 0, 3, 0, 3, 0], 18)
    (othello,) = suite.published(suite.SUBJECTS[-1])
    assert (suite.empties_of(othello.state), othello.score) == (1, 64)
    assert suite.solve("connect_four", [four]).nodes >= 1


def test_a_wrong_score_is_told() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 0, 3, 0, 3, 0])
    with pytest.raises(common.CheckError, match=r"a score is 17: \[3, 0, 3, 0, 3, 0\]; got 18"):
        suite.solve("connect_four", [suite.Position(state, 17)])
