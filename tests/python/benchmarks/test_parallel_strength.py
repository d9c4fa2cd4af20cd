"""The suite that plays parallel searches against the serial one. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import MatchResult
from pyengine.match import GameRecord
from quick_suites import rows_of, suite_module, write_tiny

bars, power, suite = map(suite_module, ("bars", "power", "parallel_strength"))


def test_the_suite_plays_matches_and_measures_costs() -> None:
    rows = list(rows_of("parallel-strength").values())
    played = [row for row in rows if "games" in row]
    assert [row["name"].split("/")[-1] for row in played] == [c.knob for c in suite.QUICK]
    assert all(row["won"] + row["drawn"] + row["lost"] == row["games"] for row in played)
    many_trees = [row for row in rows if "same_move" in row["name"]]
    assert len(many_trees) == 8
    assert all(row["same %"] >= 50 for row in many_trees)
    costs = [bars.bar_of(row) for row in rows if "ratio" in row]
    assert {(bar.row.split("/")[-1].split(",")[0], bar.title, bar.asked) for bar in costs} == {
        ("deterministic", "ratio", 0.75),
        ("fill", "ratio", 0.98),
        ("average", "ratio", 0.95),
    }


def test_a_recorded_match_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "CONTESTS", suite.QUICK)
    network = write_tiny(tmp_path / "tiny.onnx")
    file, records = tmp_path / "report.json", tmp_path / "records"
    options = ["--model", network, "--game", "connect_four", "--json", file]
    options += ["--records", records, "--only", "virtual_visit", "--games"]

    def play(games: int) -> tuple[list[dict[str, Any]], str]:
        assert suite.main([*map(str, options), str(games)]) == 0
        [record] = records.glob("*.jsonl")
        return json.loads(file.read_text())["rows"], record.read_text()

    first_rows, first_record = play(2)
    second_rows, second_record = play(4)
    assert [row["games"] for row in (*first_rows, *second_rows)] == [2, 4]
    assert second_record.startswith(first_record)


def test_every_contest_fills_its_batches_with_the_leaves_of_one_tree() -> None:
    for contest in (*suite.CONTESTS, *suite.QUICK):
        assert contest.config.batch_size == contest.config.in_flight == contest.in_flight
        assert contest.config.threads == 1
        assert contest.config.cache_entries == 0
    assert suite.SERIAL.in_flight == 1


# The power of a match


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.47, 0.50, "met"),
        (0.469, 0.52, "not decided"),
        (0.44, 0.499, "missed"),
        (0.48, 0.499, "missed"),  # a small loss, but proven
        (0.51, 0.55, "met"),
    ],
)
def test_a_bar_is_met_if_a_large_loss_is_ruled_out_and_missed_if_a_loss_is_proven(
    low: float, high: float, verdict: str
) -> None:
    assert power.StrengthBar(least=0.47, reach=0.5).verdict(low, high) == verdict


def pairs_of(counts: dict[tuple[int, int], int]) -> MatchResult:
    """Return a match with the given number of each pair of results."""
    results = [pair for pair, count in counts.items() for _ in range(count)]
    records = [
        GameRecord(pair=i, a_plays=c, opening=(), moves=(), result=result)
        for i, pair in enumerate(results)
        for c, result in enumerate(pair)
    ]
    return MatchResult(names=("a", "b"), records=tuple(records))


def test_an_unfinished_match_has_no_verdict() -> None:
    contest = suite.Contest(16, "virtual_visit", 800, 200, 8, power.StrengthBar(0.47, 0.49))
    assert contest.verdict(pairs_of({(0, 0): 100})) == "met"
    assert contest.verdict(pairs_of({(0, 0): 50})) == "-"
    assert contest.verdict(pairs_of({(-1, -1): 10, (0, 0): 90})) == "missed"
    assert contest.verdict(pairs_of({(1, 1): 45, (-1, -1): 55})) == "not decided"


#: Standard deviations of a pair's mean score, by leaves in flight. Source: benchmarks/results.
MEASURED = {16: 0.245, 64: 0.194}


@pytest.mark.parametrize("contest", [c for c in suite.CONTESTS if c.bar is not None])
def test_a_bar_is_rarely_met_with_a_loss_and_mostly_met_without(contest: Any) -> None:
    error = power.error_of(contest.games, MEASURED[contest.in_flight])
    chances = [contest.bar.chances(power.score_at(-loss), error) for loss in (0, 20, 35)]
    met, missed = zip(*chances, strict=True)
    assert met[0] > 0.7
    assert missed[0] < 0.026
    assert met[1] < 0.04
    assert met[2] < 0.001
    assert missed[2] > 0.94


def test_the_chances_agree_with_simulated_matches() -> None:
    """The matches consist of pairs of games, with draws; their own intervals give the verdicts."""
    bar = power.StrengthBar(least=0.45, reach=0.5)
    outcomes = [(1, 1), (1, 0), (1, -1), (0, 0), (0, -1), (-1, -1)]
    shares = np.array([0.06, 0.17, 0.25, 0.24, 0.21, 0.07])
    each = np.array([(a + b + 2) / 4 for a, b in outcomes])
    score = float(shares @ each)
    deviation = float(np.sqrt(shares @ (each - score) ** 2))
    samples = np.random.default_rng(0).multinomial(100, shares, size=200)
    matches = (pairs_of(dict(zip(outcomes, counts, strict=True))) for counts in samples)
    verdicts = [bar.verdict(*match.score_interval) for match in matches]
    met, missed = bar.chances(score, power.error_of(200, deviation))
    assert verdicts.count("met") / 200 == pytest.approx(met, abs=0.07)
    assert verdicts.count("missed") / 200 == pytest.approx(missed, abs=0.07)
    assert 0.2 < met < 0.8
    assert missed > 0.05
