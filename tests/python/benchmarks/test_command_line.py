"""Suites as programs, their charts, and the table of instructions."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pyengine import ConfigError
from quick_suites import suite_module, write_tiny

ROOT = Path(__file__).resolve().parents[3]

common, main, plot, saturation = map(suite_module, ("common", "__main__", "plot", "saturation"))


def test_a_suite_runs_as_a_file_of_the_checkout(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    command = [sys.executable, ROOT / "benchmarks" / "tree.py", "--quick", "--json", file]
    environment = {k: v for k, v in os.environ.items() if k != "PYENGINE_SHARED"}
    subprocess.run(command, env=environment, check=True)
    report = json.loads(file.read_text())
    assert report["suite"] == "tree"
    assert len(report["config"]) == 12
    assert report["machine"]["onnxruntime"] != "absent"


def test_a_suite_measures_the_users_network(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    network = write_tiny(tmp_path / "mine.onnx")
    options = ["--model", str(network), "--game", "connect_four", "--json", str(file)]
    assert main.run_suite(["saturation", "--quick", *options]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert rows
    assert all("mine" in row["name"] and row["ratio"] > 0 for row in rows)


def test_a_network_that_returns_nan_gets_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = write_tiny(tmp_path / "nan.onnx", nan="value")
    options = ["--quick", "--model", str(network), "--game", "connect_four"]
    assert saturation.main(options) == 1
    table = capsys.readouterr().out
    assert "threads=1: FAILED" in table
    assert "search/s" not in table


def test_an_unknown_suite_and_a_model_without_a_game_are_wrong_use() -> None:
    assert main.run_suite(["nonsense"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main.run_suite(["tree", "--model", "a.onnx"])


# Charts

SURE = {"from": 0.95, "to": 1.05, "confidence %": 96.9}
ROWS = [
    {"name": "suite/a/b", "asked": 0.9, "ratio": 1.0, **SURE},
    {"name": "suite/a/c", "asked": 0.9, "ms": 1.0, **SURE},
    {"name": "suite/a/d", "failed": "wrong"},
    {"name": "suite/a/e", "ratio": 3.0},
    {"name": "suite/a/f", "asked": 1.0, "ratio": 0.5},
]


def test_a_chart_has_a_bar_for_each_row_with_a_requirement() -> None:
    lines, _ = plot.lines_of(ROWS)
    assert [(line.name, line.verdict) for line in lines] == [
        ("suite/a/b", "met"),
        ("suite/a/c", "missed"),
        ("suite/a/f", "not decided"),
    ]
    assert lines[2].length == pytest.approx(0.5)
    assert lines[0].label == "1 [0.95, 1.05] ratio (required ≥ 0.9)"
    without_requirement, _ = plot.lines_of(ROWS[2:4])
    assert [(line.name, line.length) for line in without_requirement] == [("suite/a/e", 3.0)]


def report_with(rows: list[dict[str, Any]]) -> Any:
    machine = {"cpu": "a cpu", "pyengine": "0"}
    return common.Report("suite", "for the test", rows=rows, machine=machine).to_dict()


def test_a_chart_is_written_as_png_or_svg(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    for file in (tmp_path / "chart.png", tmp_path / "chart.svg"):
        plot.draw([report_with(ROWS), report_with(ROWS[3:4])], file)
        assert file.stat().st_size > 1_000
    with pytest.raises(ConfigError, match="got none"):
        plot.draw([report_with([])], tmp_path / "empty.png")
    with pytest.raises(ConfigError, match="cannot be written"):
        plot.draw([report_with(ROWS)], tmp_path / "chart.nonsense")


def test_a_chart_without_matplotlib_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pyengine-search\[plot\]"):
        plot.draw([report_with(ROWS)], tmp_path / "chart.png")


# tools/instructions.py


@pytest.fixture(scope="module")
def instructions() -> Any:
    spec = importlib.util.spec_from_file_location(
        "instructions", ROOT / "tools" / "instructions.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instructions"] = module  # for its dataclasses
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("count", "compiler", "status"),
    [(1029, "gcc 12", 0), (1031, "gcc 12", 1), (969, "gcc 12", 1), (2000, "clang 19", 0)],
)
def test_instruction_counts_may_differ_by_3_percent_or_with_the_compiler(
    count: int, compiler: str, status: int, tmp_path: Path, instructions: Any
) -> None:
    table = tmp_path / "table.toml"
    instructions.write_table({"uct": {"go9": instructions.Count(1000.0, "gcc 12")}}, table)
    counts = {"uct": {"go9": instructions.Count(float(count), compiler)}}
    assert instructions.compare(counts, table) == status
