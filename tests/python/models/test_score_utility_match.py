"""models/score_utility.py: margins, the report, and resuming a match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine.match import GameRecord, MatchResult

MODELS = ROOT / "models"
GO = pyengine.load_game("go(board_size=9,komi=7)")
CENTRE, PASS = 40, 81


@pytest.fixture
def script() -> Any:
    import score_utility

    return score_utility


def played(pair: int, a_plays: int, *moves: int) -> GameRecord:
    """Return a finished game, won by the owner of the centre."""
    black_wins = bool(moves) and moves[0] == CENTRE
    result = 1 if black_wins == (a_plays == 0) else -1
    return GameRecord(pair=pair, a_plays=a_plays, opening=moves[:1], moves=moves[1:], result=result)


def test_a_margin_is_area_minus_komi_for_the_first_player(script: Any) -> None:
    won, lost = played(0, 0, CENTRE, PASS, PASS), played(0, 1, PASS, PASS)
    assert script.margin(GO, won) == 81 - 7
    assert script.margin(GO, lost) == 7
    opposite = [played(0, 1, CENTRE, PASS, PASS), played(0, 0, PASS, PASS)]
    assert [script.margin(GO, game) for game in opposite] == [7 - 81, -7]


def test_the_report_shows_points_by_pairs_and_margins_of_wins(script: Any) -> None:
    games = (
        played(0, 0, CENTRE, PASS, PASS),  # +74
        played(0, 1, CENTRE, PASS, PASS),  # -74
        played(1, 0, PASS, PASS),  # -7
        played(1, 1, CENTRE, PASS, PASS),  # -74
    )
    report = script.report(GO, MatchResult(names=("a", "b"), records=games))
    assert "score of the copy: 25.0%" in report
    assert "points ahead: -20.25 [-277.63, +237.13]" in report  # pairs: 0 and -40.5
    assert "wins of the copy: 1, by 74.0 points" in report
    assert "wins of the network: 3, by 51.7 points" in report


def test_the_command_resumes_a_match(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnx", reason="the extra convert is not installed")
    command = [str(MODELS / "go9.onnx"), "--work", str(tmp_path), "--simulations", "2"]
    script.main([*command, "--games", "4"])
    expected = capsys.readouterr().out
    (record,) = tmp_path.glob("*/games.jsonl")
    lines = record.read_text().splitlines(keepends=True)
    # A record of two games; the added space would not be in a game that is played again.
    first = [lines[0], *(line.replace("{", "{ ", 1) for line in lines[1:3])]
    record.write_text("".join(first))
    assert script.main([*command, "--games", "4"]) == 0
    resumed = record.read_text().splitlines(keepends=True)
    assert resumed[:3] == first
    assert sorted(resumed[3:]) == sorted(lines[3:])
    assert capsys.readouterr().out == expected
