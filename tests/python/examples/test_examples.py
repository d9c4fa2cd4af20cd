"""Every program in examples/ runs with small numbers."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
GO7 = str(ROOT / "models" / "go7.onnx")


@dataclass(frozen=True)
class Run:
    """A program and its arguments."""

    name: str
    arguments: tuple[str, ...]
    prints: str  #: a pattern for the output
    needs: tuple[str, ...] = ()  #: required modules


RUNS = [
    Run("own_network", ("50",), r"50 simulations", ("torch",)),
    Run("own_game", ("300",), r"best: [A-E][1-5], [+-]"),
    Run("analyse_sgf", (), r"A7 .* mistake: ", ("sgfmill",)),
    Run("watch_analysis", ("1000",), r"simulations, value"),
    Run("every_search", ("100",), r"alpha-beta +6 +\+1\.000"),
    Run("draw_path_search", ("path.svg",), r"\| A\* \| 729 \| 0 \| 73"),
    Run("search_many", ("20", "20"), r"rows, .* in a batch"),
    Run("deterministic", ("200",), r"4 threads: "),
    Run("match_sprt", ("4",), r"4 games"),
    Run("selfplay_to_dataloader", ("data", "1"), r"\(\d+, 5, 6, 7\)", ("torch",)),
    Run("train_connect_four", ("run", "1", "4", "2"), r"generation 1", ("torch", "onnx")),
    Run("int8", (GO7, "go(board_size=7,komi=9.5)", "small.onnx", "64", "0"), "", ("onnx",)),
]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_an_example_runs(run: Run, tmp_path: Path) -> None:
    for module in run.needs:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    command = [sys.executable, str(EXAMPLES / f"{run.name}.py"), *run.arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(run.prints, done.stdout), done.stdout


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("SZ[9]KM[6.5]HA[2]AB[gc][cg];W[ee];B[gg]", ["komi=6.5", "1. E5", "2. G3"]),
        ("SZ[5:7];B[cc];W[]", ["rows=7,columns=5", "1. C5", "2. pass"]),
        ("SZ[5];B[cc];W[dd];B[];W[]", ["board_size=5", "4. pass"]),
        ("SZ[9];W[ee]", ["error: ", "White begins"]),
        ("GM[4]SZ[9];B[ee]", ["error: another game: GM[4]"]),
    ],
)
def test_analyse_sgf_reads_the_game_in_a_file(
    content: str, lines: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill")
    (tmp_path / "game.sgf").write_text(f"(;{content})")
    command = [sys.executable, str(EXAMPLES / "analyse_sgf.py"), "game.sgf", "8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    for line in lines:
        assert line in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [("draw_path_search", 0, "drawn: path-search.svg"), ("int8", 2, "usage: int8.py")],
)
def test_an_example_without_arguments_runs_or_prints_its_usage(
    tmp_path: Path, name: str, status: int, words: str
) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_an_example_has_help_and_rejects_unknown_options(run: Run, tmp_path: Path) -> None:
    if any(importlib.util.find_spec(module) is None for module in run.needs):
        pytest.skip(f"needs {', '.join(run.needs)}")
    program = EXAMPLES / f"{run.name}.py"
    for argument, status, words in (("--help", 0, "Run:"), ("--no", 2, "error: ")):
        done = subprocess.run(
            [sys.executable, str(program), argument],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        output = done.stdout + done.stderr
        assert output.startswith(f"usage: {run.name}.py")
        assert words in output
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_tested_listed_and_short() -> None:
    programs = {path.stem: path for path in EXAMPLES.glob("*.py")}
    assert set(programs) == {run.name for run in RUNS}
    listed = re.findall(r"^\| `(\w+)\.py`", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(programs)
    long = [name for name, path in programs.items() if len(path.read_text().splitlines()) > 65]
    assert long == []


def test_examples_are_not_installed() -> None:
    files = metadata.files("pyengine-search") or []
    assert [file for file in files if "examples" in file.parts] == []
