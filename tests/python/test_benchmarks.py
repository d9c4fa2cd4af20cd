"""The benchmark suites run, and state no rate for a wrong answer. Nothing here is timed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tiny_models import TinyModel

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("tree", "evaluator", "saturation")
PACKAGE = "pyengine.benchmarks"

common = pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python without the third-party networks: the suites measure all they find."""
    environment = {k: v for k, v in os.environ.items() if k != "PYENGINE_SHARED"}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def report_of(done: subprocess.CompletedProcess[str], file: Path) -> dict[str, Any]:
    """Return the report that a successful run wrote."""
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(file.read_text())
    return report


@pytest.fixture
def tiny_model(tmp_path: Path) -> list[str | Path]:
    """Return the options that name a tiny network for Connect Four."""
    path = TinyModel(planes=(3, 6, 7), actions=7).write(tmp_path / "tiny.onnx")
    return ["--model", path, "--game", "connect_four"]


def figures(report: dict[str, Any], title: str) -> dict[str, float]:
    """Return the figures under a title by the name of their row."""
    return {row["name"]: row[title] for row in report["rows"] if row.get(title) is not None}


def test_tree_gives_a_time_for_every_game(tmp_path: Path) -> None:
    file = tmp_path / "tree.json"
    done = run("-m", PACKAGE, "tree", "--quick", "--json", file)
    times = figures(report_of(done, file), "us")
    games = ("tic_tac_toe", "connect_four", "othello", "gomoku15", "go19", "go9")
    assert list(times) == [f"tree/{game}/uniform/threads=1" for game in games]
    assert all(time > 0 for time in times.values())
    assert all(name in done.stdout for name in times)


@pytest.mark.parametrize("suite", ["evaluator", "saturation"])
def test_suites_of_networks_give_rates_for_a_users_model(
    suite: str, tiny_model: list[str | Path], tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    done = run("-m", PACKAGE, suite, "--quick", "--json", file, *tiny_model)
    report = report_of(done, file)
    ratios = figures(report, "ratio")
    assert ratios
    assert all("tiny" in name and ratio > 0 for name, ratio in ratios.items())
    assert report["machine"]["onnxruntime"] != "absent"


def test_a_suite_runs_as_a_file_of_the_checkout(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    report = report_of(run(ROOT / "benchmarks" / "tree.py", "--quick", "--json", file), file)
    assert report["suite"] == "tree"
    assert len(report["config"]) == 12


def test_a_network_that_answers_nan_gets_no_rate(tmp_path: Path) -> None:
    path = TinyModel(planes=(3, 6, 7), actions=7, nan="value").write(tmp_path / "nan.onnx")
    done = run("-m", PACKAGE, "saturation", "--quick", "--model", path, "--game", "connect_four")
    assert done.returncode == 1
    assert "threads=1: CHECK FAILED" in done.stdout
    assert "search/s" not in done.stdout


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_says_its_name_and_what_it_measures(suite: str) -> None:
    module = importlib.import_module(f"{PACKAGE}.{suite}")
    assert suite == module.NAME
    assert module.DESCRIPTION


def test_a_wrong_answer_leaves_its_reason_and_no_rate() -> None:
    report = common.Report("suite", "for the test")
    with report.row("layer/good") as row:
        row["us"] = 1.5
    with report.row("layer/bad") as row:
        row["us"] = 0.001
        common.check("two and two are four", 2 + 2 == 5, "5")
    assert report.failed
    table = report.table()
    assert "layer/bad: CHECK FAILED: two and two are four; found 5" in table
    assert "0.001" not in table
    assert report.rows[0] == {"name": "layer/good", "us": 1.5}


def test_an_unknown_suite_and_a_model_without_a_game_are_wrong_use(tmp_path: Path) -> None:
    assert run("-m", PACKAGE, "nonsense").returncode == 2
    assert run("-m", PACKAGE, "tree", "--model", tmp_path / "a.onnx").returncode == 2
