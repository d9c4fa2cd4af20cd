"""The suite that plays parallel searches against the serial one. Nothing here is timed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import MatchResult
from pyengine.match import GameRecord
from tiny_models import DEFAULT, TinyModel

PACKAGE = "pyengine.benchmarks"

pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
suite = importlib.import_module(f"{PACKAGE}.parallel_strength")
bars = importlib.import_module(f"{PACKAGE}.bars")
power = importlib.import_module(f"{PACKAGE}.power")


@pytest.fixture
def tiny_model(tmp_path: Path) -> list[str]:
    """Return the options that name a tiny network for Connect Four."""
    path = TinyModel(planes=(3, 6, 7), actions=7, metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    return ["--model", str(path), "--game", "connect_four"]


def run(*options: str, file: Path) -> dict[str, Any]:
    """Run the suite without the third-party networks; return its report."""
    environment = {k: v for k, v in os.environ.items() if k != "PYENGINE_SHARED"}
    done = subprocess.run(
        [sys.executable, "-m", f"{PACKAGE}.parallel_strength", "--quick", "--json", str(file),
         *options],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def test_the_suite_plays_matches_and_states_costs(tiny_model: list[str], tmp_path: Path) -> None:
    report = run(*tiny_model, file=tmp_path / "report.json")
    assert not [row for row in report["rows"] if "failed" in row]
    played = [row for row in report["rows"] if "games" in row]
    assert [row["name"].split("/")[-1] for row in played] == [c.knob for c in suite.QUICK]
    many = [row for row in report["rows"] if "same_move" in row["name"]]
    assert len(many) == 8
    assert all(row["same %"] >= 50 for row in many)
    assert all(row["won"] + row["drawn"] + row["lost"] == row["games"] for row in played)
    costs = [bars.bar_of(row) for row in report["rows"] if "ratio" in row]
    asked = {(bar.row.split("/")[-1].split(",")[0], bar.title, bar.asked) for bar in costs}
    assert asked == {
        ("deterministic", "ratio", 0.75),
        ("fill", "ratio", 0.98),
        ("average", "ratio", 0.95),
    }


def test_matches_are_kept_and_go_on(tiny_model: list[str], tmp_path: Path) -> None:
    options = [*tiny_model, "--records", str(tmp_path / "kept"), "--only", "virtual_visit"]
    first = run(*options, "--games", "2", file=tmp_path / "first.json")
    record = next((tmp_path / "kept").glob("*.jsonl"))
    before = record.read_text()
    second = run(*options, "--games", "4", file=tmp_path / "second.json")
    assert [row["games"] for row in (*first["rows"], *second["rows"])] == [2, 4]
    assert record.read_text().startswith(before)


def test_all_rows_of_a_batch_are_leaves_in_flight() -> None:
    for contest in (*suite.CONTESTS, *suite.QUICK):
        assert contest.config.batch_size == contest.config.in_flight == contest.in_flight
        assert contest.config.threads == 1
        assert contest.config.cache_entries == 0
    assert suite.SERIAL.in_flight == 1


# What a match can tell


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.47, 0.50, "met"),
        (0.469, 0.52, "not decided"),
        (0.44, 0.499, "missed"),
        (0.48, 0.499, "missed"),  # a small loss, but it is proven
        (0.51, 0.55, "met"),
    ],
)
def test_the_bar_rules_a_loss_out_or_proves_one(low: float, high: float, verdict: str) -> None:
    assert power.StrengthBar(least=0.47, reach=0.5).verdict(low, high) == verdict


def pairs_of(counts: dict[tuple[int, int], int]) -> MatchResult:
    """Return a match with so many pairs of these two results."""
    results = [pair for pair, count in counts.items() for _ in range(count)]
    records = [
        GameRecord(pair=i, a_plays=c, opening=(), moves=(), result=result)
        for i, pair in enumerate(results)
        for c, result in enumerate(pair)
    ]
    return MatchResult(names=("a", "b"), records=tuple(records))


def test_a_match_with_games_missing_has_no_verdict() -> None:
    contest = suite.Contest(16, "virtual_visit", 800, 200, 8, power.StrengthBar(0.47, 0.49))
    assert contest.verdict(pairs_of({(0, 0): 100})) == "met"
    assert contest.verdict(pairs_of({(0, 0): 50})) == "-"
    assert contest.verdict(pairs_of({(-1, -1): 10, (0, 0): 90})) == "missed"
    assert contest.verdict(pairs_of({(1, 1): 45, (-1, -1): 55})) == "not decided"


#: Standard deviations of a pair's mean score in the matches so far: benchmarks/results.
SEEN = {16: 0.245, 64: 0.194}


@pytest.mark.parametrize("contest", [c for c in suite.CONTESTS if c.bar is not None])
def test_a_bar_is_seldom_met_at_a_loss_and_mostly_without(contest: Any) -> None:
    error = power.error_of(contest.games, SEEN[contest.in_flight])
    chances = [contest.bar.chances(power.score_at(-loss), error) for loss in (0, 20, 35)]
    met, missed = zip(*chances, strict=True)
    assert met[0] > 0.7
    assert missed[0] < 0.026
    assert met[1] < 0.04
    assert met[2] < 0.001
    assert missed[2] > 0.94


def test_a_bar_that_only_had_to_reach_50_percent_told_little() -> None:
    bar = power.StrengthBar(least=0.0, reach=0.5)
    met = [bar.chances(power.score_at(-loss), power.error_of(200, 0.25))[0] for loss in (20, 35)]
    assert met == [pytest.approx(0.82, abs=0.01), pytest.approx(0.52, abs=0.01)]


def test_the_chances_are_those_of_simulated_matches() -> None:
    """Pairs of games with draws, scored by the interval that a match states."""
    bar = power.StrengthBar(least=0.45, reach=0.5)
    outcomes = [(1, 1), (1, 0), (1, -1), (0, 0), (0, -1), (-1, -1)]
    shares = np.array([0.06, 0.17, 0.25, 0.24, 0.21, 0.07])
    each = np.array([(a + b + 2) / 4 for a, b in outcomes])
    score = float(shares @ each)
    deviation = float(np.sqrt(shares @ (each - score) ** 2))
    drawn = np.random.default_rng(0).multinomial(300, shares, size=400)
    matches = (pairs_of(dict(zip(outcomes, counts, strict=True))) for counts in drawn)
    found = [bar.verdict(*match.score_interval) for match in matches]
    met, missed = bar.chances(score, power.error_of(600, deviation))
    assert found.count("met") / 400 == pytest.approx(met, abs=0.07)
    assert found.count("missed") / 400 == pytest.approx(missed, abs=0.07)
    assert 0.2 < met < 0.8
    assert missed > 0.05
