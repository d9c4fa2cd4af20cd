"""The suite of matches between settings: its plan, equal cost, and resuming. Nothing is timed."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pyengine import ConfigError, MatchResult
from pyengine.match import GameRecord
from quick_suites import suite_module

ROOT = Path(__file__).resolve().parents[3]

common, contests, equal_cost, matches, suite = map(
    suite_module, ("common", "contests", "equal_cost", "matches", "strength")
)

FEW: dict[str, Any] = {"simulations": 8, "threads": 1, "in_flight": 1}
CONTEST = contests.Contest(
    "tic_tac_toe", "tic_tac_toe", "graph", "graph,simulations=8", FEW, FEW, games=4, concurrent=4
)


def test_a_rows_full_name_selects_that_row_alone() -> None:
    names = [contest.name for contest in contests.CONTESTS]
    for name in names:
        options = common.Options(only=(name,))
        assert [other for other in names if matches.selects(options, other)] == [name]


def test_every_idea_is_measured_in_connect_four_and_gomoku_with_400_games() -> None:
    for family in ("graph", "graph-equal-cost", "lcb", "c_puct_stdev", "root", "draw_value"):
        cells = {
            (contest.evaluator, contest.ours["simulations"])
            for contest in contests.CONTESTS
            if contest.family == family and contest.games == 400
        }
        assert cells >= {(name, n) for name in ("connect4", "gomoku") for n in (200, 800)}


# Equal cost


class Recorder:
    """An engine that counts its calls and plays its own number."""

    def __init__(self, action: int) -> None:
        self.action = action
        self.calls = 0

    def search_many(self, states: list[Any]) -> list[int]:
        self.calls += 1
        return [self.action] * len(states)


def test_both_engines_search_every_position_and_play_in_turns() -> None:
    ours, other = Recorder(1), Recorder(2)
    player = equal_cost.Paired(ours, other)
    assert [player.search_many([None]) for _ in range(4)] == [[1], [2], [1], [2]]
    assert ours.calls == other.calls == len(player.times) == 4


def test_the_cost_is_the_ratio_of_total_times() -> None:
    cost = equal_cost.cost_of([(3.0, 2.0), (1.0, 1.0), (2.0, 1.0)])
    assert (cost.ratio, cost.median, cost.rounds) == (1.5, 1.5, 3)


def test_the_other_side_gets_simulations_of_equal_cost() -> None:
    contest = suite.at_equal_cost(CONTEST, equal_cost.Cost(1.3, 1.3, 9))
    assert (contest.ours["simulations"], contest.other["simulations"]) == (8, 10)


def test_a_resumed_match_of_equal_cost_has_the_same_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = replace(CONTEST, equal_cost=True)
    first = suite.measure(contest, common.Options(records=tmp_path, games=2))
    monkeypatch.setattr(equal_cost, "measured", lambda *_: pytest.fail("measured again"))
    again = suite.measure(contest, common.Options(records=tmp_path, games=4))
    assert (first["games"], again["games"]) == (2, 4)
    assert first["their simulations"] == again["their simulations"]
    assert suite.from_record(contest, tmp_path) == again
    assert suite.from_record(replace(contest, ours=FEW | {"c_puct": 3.0}), tmp_path) is None


# Records


def test_a_quick_run_has_no_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENGINE_RECORDS", str(tmp_path))
    assert matches.record_file(common.Options(), "a") == tmp_path / "a.jsonl"
    assert matches.record_file(common.Options(quick=True, records=tmp_path), "a") is None


def test_the_games_of_a_record_are_reported_without_playing(tmp_path: Path) -> None:
    row = suite.measure(CONTEST, common.Options(records=tmp_path))
    record = matches.record_file(common.Options(records=tmp_path), CONTEST.name)
    with record.open("a") as file:
        file.write('{"pair": 2, "a_pl')  # cut off by a crash
    assert suite.from_record(CONTEST, tmp_path) == row
    for header in ("", '{"pyengine_ma'):
        record.write_text(header)
        assert suite.from_record(CONTEST, tmp_path) is None


def test_the_elo_of_a_shut_out_is_null() -> None:
    won = [GameRecord(pair=0, a_plays=i, opening=(), moves=(), result=1) for i in (0, 1)]
    row = matches.score_of(MatchResult(names=("a", "b"), records=tuple(won)))
    assert (row["Elo"], row["Elo to"]) == (None, None)
    json.dumps(row, allow_nan=False)


def test_the_same_seed_gives_the_same_games() -> None:
    games = [suite.play(CONTEST, 4, None).records for _ in range(2)]
    assert games[0] == games[1]


def test_a_row_is_left_out_while_another_process_measures_its_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = common.Options(records=tmp_path)
    report, other = common.Report("strength"), common.Report("strength")

    def measured(*_: Any) -> Any:
        suite.run(other, options)
        return equal_cost.Cost(1.0, 1.0, 1)

    monkeypatch.setattr(suite, "CONTESTS", (replace(CONTEST, equal_cost=True),))
    monkeypatch.setattr(equal_cost, "measured", measured)
    suite.run(report, options)
    assert [row["games"] for row in report.rows] == [4]
    assert other.rows == []
    assert "another process" in other.notes[0]
    assert not any("--only" in note for note in other.notes)


# tools/strength_tables.py


def test_a_mistyped_folder_of_records_is_refused(tables: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mistyped"):
        tables.with_matches({}, tmp_path / "mistyped")
    assert not (tmp_path / "mistyped").exists()


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "strength_tables", ROOT / "tools" / "strength_tables.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ELO = {"games": 400, "score %": 52, "Elo": 12.4, "Elo from": -0.3, "Elo to": 25.0}
LOST = {"games": 400, "score %": 0, "Elo": None, "Elo from": None, "Elo to": -700.0}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (None, "not measured"),
        (ELO, "+12 [0, +25]"),
        (ELO | {"games": 50}, "+12 [0, +25] (50 of 400 games)"),
        (ELO | {"cost ratio": 1.1, "their simulations": 220}, "+12 [0, +25] (220 theirs)"),
        (ELO | {"Elo to": None}, "+12 [0, +inf]"),
        (LOST, "-inf [-inf, -700]"),
    ],
)
def test_a_cell_has_elo_interval_and_what_is_unusual(
    row: dict[str, Any] | None, text: str, tables: ModuleType
) -> None:
    assert tables.cell(replace(CONTEST, games=400), row) == text


def test_a_table_has_a_line_per_network_and_a_column_per_budget(tables: ModuleType) -> None:
    name = "strength/connect_four/connect4/lcb,simulations=800"
    lines = tables.table("lcb", {name: ELO}).splitlines()
    assert lines[0] == "| match | 200 simulations | 800 simulations |"
    assert lines[2] == "| `connect4` | not measured | +12 [0, +25] |"


def test_the_page_shows_every_family_except_those_of_other_pages(tables: ModuleType) -> None:
    shown = {match[2] for match in tables.SECTION.finditer(tables.PAGE.read_text("utf-8"))}
    assert shown == set(contests.FAMILIES) - tables.ELSEWHERE
    assert {contest.family for contest in contests.CONTESTS} == set(contests.FAMILIES)


def test_a_picture_of_the_matches_is_drawn(tables: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    name, lost = (contest.name for contest in contests.CONTESTS[:2])
    tables.draw({name: ELO, lost: LOST}, tmp_path / "strength.svg")
    assert (tmp_path / "strength.svg").stat().st_size > 1_000
