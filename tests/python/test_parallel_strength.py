"""The suite that plays parallel searches against the serial one. Nothing here is timed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pyengine import GameRecord, MatchResult
from tiny_models import TinyModel

PACKAGE = "pyengine.benchmarks"

pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
suite = importlib.import_module(f"{PACKAGE}.parallel_strength")
bars = importlib.import_module(f"{PACKAGE}.bars")


@pytest.fixture
def tiny_model(tmp_path: Path) -> list[str]:
    """Return the options that name a tiny network for Connect Four."""
    path = TinyModel(planes=(3, 6, 7), actions=7).write(tmp_path / "tiny.onnx")
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


def finished(scores: list[int]) -> MatchResult:
    """Return a match with two games of each of these results."""
    records = [
        GameRecord(pair=i, a_plays=c, opening=(), moves=(), result=result)
        for i, result in enumerate(scores)
        for c in (0, 1)
    ]
    return MatchResult(names=("a", "b"), records=tuple(records))


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


def test_a_bar_asks_for_the_middle_and_for_the_interval() -> None:
    contest = suite.Contest(16, "virtual_visit", 800, 200, 8, reach=0.49, middle=0.47)
    draws = [0] * 100
    assert contest.verdict(finished(draws)) == "met"
    assert contest.verdict(finished(draws[:50])) == "-"  # games are missing
    assert contest.verdict(finished([-1] * 4 + [0] * 96)) == "met"  # 48 % [46, 50]
    assert contest.verdict(finished([-1] * 10 + [0] * 90)) == "missed"  # 45 %
    wide = [1] * 45 + [-1] * 55  # 45 % [35, 55]: reaches 49, but the middle is too low
    assert contest.verdict(finished(wide)) == "missed"
