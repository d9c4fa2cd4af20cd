"""The suite of exact search: its positions and its reference search. Nothing is timed."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

import pyengine
from pyengine.exact import minimax
from quick_suites import suite_module

common, suite = map(suite_module, ("common", "solver"))


@pytest.mark.parametrize(("name", "empties"), [("tic_tac_toe", 6), ("othello(board_size=4)", 6)])
def test_the_plain_search_agrees_with_minimax(name: str, empties: int) -> None:
    game = pyengine.load_game(name)
    rows, columns = game.board_shape
    rng = random.Random(1)
    for _ in range(10):
        state = suite.random_state(game, rows * columns - empties, rng)
        value, nodes = suite.plain(state)
        assert value == minimax(state)[0]
        assert nodes > 1


def test_random_play_replaces_missing_published_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    for subject in (replace(subject, count=4) for subject in suite.SUBJECTS):
        notes: list[str] = []
        positions = suite.positions_of(subject, common.Options(), notes)
        assert len(positions) == subject.count
        assert all(position.score is None for position in positions)
        least, most = subject.stones
        assert all(least <= suite.stones_of(position.state) <= most for position in positions)
        assert [note.split(":")[0] for note in notes] == [subject.row]
        again = suite.made_up(subject)
        assert [p.state.history() for p in positions] == [p.state.history() for p in again]


def test_published_positions_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    (tmp_path / "oracles" / "05-connect-four").mkdir(parents=True)
    (tmp_path / "oracles" / "04-othello").mkdir()
    pons = tmp_path / "oracles" / "05-connect-four" / "pons_L3_R1.csv"
    pons.write_text("moves,score,column_scores\n414141,18,\n")
    ended = {"board": "-OXXXXXX" + 56 * "X", "to_move": "X", "empties": 1, "best_score": 64}
    too_early = ended | {"empties": 21}
    ffo = tmp_path / "oracles" / "04-othello" / "ffo_endgames.jsonl"
    ffo.write_text(json.dumps(ended) + "\n" + json.dumps(too_early) + "\n")
    (four,) = suite.published(suite.SUBJECTS[0])
    assert (four.state.history(), four.score) == ([3, 0, 3, 0, 3, 0], 18)
    (othello,) = suite.published(suite.SUBJECTS[-1])
    assert (suite.empties_of(othello.state), othello.score) == (1, 64)
    assert suite.solve("connect_four", [four]).nodes >= 1


def test_a_wrong_score_is_an_error() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 0, 3, 0, 3, 0])
    with pytest.raises(common.CheckError, match="got 18"):
        suite.solve("connect_four", [suite.Position(state, 17)])
