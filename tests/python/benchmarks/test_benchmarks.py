"""The benchmark suites run, and state no rate for a wrong answer. Nothing here is timed."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pyengine import ConfigError
from quick_suites import quick
from tiny_models import DEFAULT, TinyModel

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "pyengine.benchmarks"

common = pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
bars = importlib.import_module(f"{PACKAGE}.bars")
plot = importlib.import_module(f"{PACKAGE}.plot")
suites = importlib.import_module(f"{PACKAGE}.suites")


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
    path = TinyModel(planes=(3, 6, 7), actions=7, metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    return ["--model", path, "--game", "connect_four"]


def figures(report: dict[str, Any], title: str) -> dict[str, float]:
    """Return the figures under a title by the name of their row."""
    return {row["name"]: row[title] for row in report["rows"] if row.get(title) is not None}


def test_tree_gives_a_time_for_every_game() -> None:
    times = figures(quick("tree"), "us")
    games = ("tic_tac_toe", "connect_four", "othello", "gomoku15", "go19", "go9")
    rows = [f"{game}/uniform" for game in games] + ["go19/17 planes"]
    assert list(times) == [f"tree/{row}/threads=1" for row in rows]
    assert all(time > 0 for time in times.values())


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
    path = TinyModel(planes=(3, 6, 7), actions=7, nan="value", metadata=DEFAULT).write(
        tmp_path / "nan.onnx"
    )
    done = run("-m", PACKAGE, "saturation", "--quick", "--model", path, "--game", "connect_four")
    assert done.returncode == 1
    assert "threads=1: FAILED" in done.stdout
    assert "search/s" not in done.stdout


@pytest.mark.parametrize("suite", suites.SUITES)
def test_every_suite_says_its_name_and_what_it_measures(suite: str) -> None:
    module = importlib.import_module(f"{PACKAGE}.{suites.module_of(suite)}")
    assert suite == module.NAME
    assert module.DESCRIPTION
    assert callable(module.run)
    assert callable(module.main)


def test_saturation_measures_one_tree_and_64_searches(
    tiny_model: list[str | Path], tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    done = run("-m", PACKAGE, "saturation", "--quick", "--json", file, *tiny_model)
    names = list(figures(report_of(done, file), "ratio"))
    assert any("tree=10000,batch=8,threads=1" in name for name in names)
    assert any("searches=64x200,batch=8,threads=1" in name for name in names)


def test_selfplay_measures_a_network(tiny_model: list[str | Path], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    done = run("-m", PACKAGE, "selfplay", "--quick", "--json", file, *tiny_model)
    names = list(figures(report_of(done, file), "ratio"))
    assert any("games=64,batch=8,threads=1" in name for name in names)


SURE = {"from": 0.95, "to": 1.05, "confidence %": 96.9}
ROWS = [
    {"name": "suite/a/b", "asked": 0.9, "ratio": 1.0, **SURE},
    {"name": "suite/a/c", "asked": 0.9, "ms": 1.0, **SURE},
    {"name": "suite/a/d", "failed": "wrong"},
    {"name": "suite/a/e", "ratio": 3.0},
    {"name": "suite/a/f", "asked": 1.0, "ratio": 0.5},
]


def test_a_picture_has_a_bar_for_each_row_of_which_something_is_asked() -> None:
    lines, _ = plot.lines_of(ROWS)
    assert [(line.name, line.verdict) for line in lines] == [
        ("suite/a/b", "met"),
        ("suite/a/c", "missed"),
        ("suite/a/f", "not decided"),
    ]
    assert lines[2].length == pytest.approx(0.5)
    assert lines[0].label == "1 [0.95, 1.05] ratio (asked ≥ 0.9)"
    free, _ = plot.lines_of(ROWS[2:4])
    assert [(line.name, line.length) for line in free] == [("suite/a/e", 3.0)]


def report_with(rows: list[dict[str, Any]]) -> dict[str, Any]:
    report = common.Report("suite", "for the test", machine={"cpu": "a cpu", "pyengine": "0"})
    report.rows = rows
    drawn: dict[str, Any] = report.to_dict()
    return drawn


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_written(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    file = tmp_path / f"picture.{suffix}"
    plot.draw([report_with(ROWS), report_with(ROWS[3:4])], file)
    assert file.stat().st_size > 1_000
    with pytest.raises(ConfigError, match="got none"):
        plot.draw([report_with([])], file)
    with pytest.raises(ConfigError, match="cannot be written"):
        plot.draw([report_with(ROWS)], tmp_path / "picture.nonsense")


def test_a_picture_without_matplotlib_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pyengine-search\[plot\]"):
        plot.draw([report_with(ROWS)], tmp_path / "picture.png")


def load_instructions() -> Any:
    """Return tools/instructions.py as a module."""
    file = ROOT / "tools" / "instructions.py"
    spec = importlib.util.spec_from_file_location("instructions", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instructions"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("now", "compiler", "status"),
    [(1029, "gcc 12", 0), (1031, "gcc 12", 1), (969, "gcc 12", 1), (2000, "clang 19", 0)],
)
def test_instructions_may_differ_by_3_percent_and_more_with_another_compiler(
    now: int, compiler: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instructions = load_instructions()
    table = tmp_path / "table.toml"
    instructions.write_table({"uct": {"go9": instructions.Count(1000.0, "gcc 12")}}, table)
    counts = {"uct": {"go9": instructions.Count(float(now), compiler)}}
    assert instructions.compare(counts, table) == status
    printed = capsys.readouterr().out
    assert ("UPDATE=1" in printed) == (status == 1)
    assert ("not an error" in printed) == (compiler == "clang 19")


def test_the_committed_instructions_name_every_game_and_the_compiler() -> None:
    instructions = load_instructions()
    table = tomllib.loads(instructions.TABLE.read_text("utf-8"))
    for kind in instructions.KINDS.values():
        assert list(table[kind.table]) == list(kind.games)
    assert instructions.KINDS["search"].games == tuple(instructions.GAMES)
    assert table["compiler"]


def test_an_unknown_suite_and_a_model_without_a_game_are_wrong_use(tmp_path: Path) -> None:
    assert run("-m", PACKAGE, "nonsense").returncode == 2
    assert run("-m", PACKAGE, "tree", "--model", tmp_path / "a.onnx").returncode == 2
