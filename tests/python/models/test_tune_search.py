"""models/tune_search.py: the values of moves, trials that resume, and matches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.match import GameRecord, MatchResult

#: x to move wins with c1, draws with b3, and loses with c3
LINE, WINS, DRAWS, LOSES = (0, 3, 1, 4), 2, 5, 8


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a reference of tic-tac-toe."""
    from measure.regret import Contest, Reference

    with ExitStack() as stack:

        def opened(solved_empties: int, **settings: Any) -> Any:
            contest = Contest("tic_tac_toe", "tic_tac_toe", solved_empties)
            reference = Reference(contest, tmp_path, games=4, say=lambda _: None, **settings)
            stack.callback(reference.close)
            return reference

        yield opened


@pytest.mark.parametrize("solved_empties", [0, 9])
def test_a_gain_is_the_difference_in_value_over_all_choices_of_a_game(
    reference: Callable[..., Any], solved_empties: int
) -> None:
    reference = reference(solved_empties)
    ours, theirs = [WINS, LOSES, DRAWS], [LOSES, WINS, DRAWS]
    gains = reference.gains([LINE] * 3, ours, theirs, 1000)
    assert gains == [reference.decisions, -reference.decisions, 0]


def test_values_of_moves_are_saved(
    reference: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gains = reference(9).gains([LINE], [DRAWS], [LOSES], 10)
    monkeypatch.delattr(pyengine, "solve")
    assert reference(9).gains([LINE], [DRAWS], [LOSES], 10) == gains


def test_the_key_of_saved_values_depends_on_how_moves_are_evaluated(
    reference: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from measure import regret

    keys = [reference(9).key, reference(9).key, reference(0).key]
    monkeypatch.setattr(regret, "_NARROW", regret._WIDE)
    keys.append(reference(9).key)
    assert [keys.index(key) for key in keys] == [0, 0, 2, 3]


def test_positions_held_out_are_not_among_the_others(reference: Callable[..., Any]) -> None:
    reference = reference(9)
    others, held_out = reference.positions(1000), reference.positions(1000, held_out=True)
    assert others
    assert held_out
    assert not set(others) & set(held_out)


def test_forced_moves_are_not_decisions(reference: Callable[..., Any], tmp_path: Path) -> None:
    decisions = reference(9).decisions
    lines = (tmp_path / "tic_tac_toe.jsonl").read_text().splitlines()[1:]
    games = [json.loads(line) for line in lines]
    full = sum(len(game["opening"] + game["moves"]) == 9 for game in games)  # the last is forced
    assert full
    assert decisions == (sum(len(game["moves"]) for game in games) - full) / len(games) / 2


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script with tic-tac-toe as its only game and two small budgets."""
    pytest.importorskip("optuna", reason="Optuna is not installed")
    import tune_search
    from measure.regret import Contest

    monkeypatch.setattr(
        tune_search, "GAMES", {"tic_tac_toe": Contest("tic_tac_toe", "tic_tac_toe", 9)}
    )
    return tune_search


def test_an_interrupted_study_resumes(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--quick", "--no-matches", "--work", str(tmp_path), "--trials"]
    suggest = script.suggest

    def interrupted(trial: Any) -> Any:
        if trial.number == 2:
            raise KeyboardInterrupt
        return suggest(trial)

    monkeypatch.setattr(script, "suggest", interrupted)
    assert script.main([*command, "4"]) == 130
    monkeypatch.setattr(script, "suggest", suggest)
    assert script.main([*command, "4"]) == 0
    output = capsys.readouterr()
    trials = [line.split(",")[0] for line in output.out.splitlines() if line.startswith("trial")]
    assert trials == [f"trial {number} of 4" for number in (1, 2, 3, 4)]
    assert "run the same command to resume" in output.err


def test_the_present_defaults_gain_nothing(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script.main(["--quick", "--no-matches", "--trials", "1", "--work", str(tmp_path)])
    first = capsys.readouterr().out.splitlines()[0]
    assert f"c_puct={pyengine.SearchConfig().c_puct} " in first
    assert first.count("tic_tac_toe +0.00%") == 2


def test_a_candidate_plays_the_defaults_and_matches_resume(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--quick", "--work", str(tmp_path), "--candidate", "fpu=parent", "c_puct=2"]
    assert script.main(command) == 0
    records = {path: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    assert len(records) == 2
    assert script.main(command) == 0
    assert records == {path: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    assert capsys.readouterr().out.count("all games, 8 simulations: score [") == 2
    assert script.main([*command[:-1], "c_puct=2.0001"]) == 0


def test_an_unknown_setting_is_refused(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--candidate", "puct=2"]) == 2
    assert "puct" in capsys.readouterr().err


def test_the_interval_covers_the_pairs_of_all_matches(script: Any) -> None:
    def match(*results: int) -> MatchResult:
        games = (
            GameRecord(pair=i // 2, a_plays=i % 2, opening=(), moves=(), result=result)
            for i, result in enumerate(results)
        )
        return MatchResult(names=("a", "b"), records=tuple(games))

    apart, joined = [match(1, 1, 0, 0), match(-1, 1)], [match(1, 1, 0, 0, -1, 1)]
    assert script.together(apart) == script.together(joined)
