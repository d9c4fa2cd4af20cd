"""Every program in examples/ runs with small numbers."""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "examples"
GO7 = str(ROOT / "models" / "go7.onnx")
MOST_LINES = 65
ADAPTERS = {"openspiel_bot": 75, "gymnasium_env": 95, "pettingzoo_game": 155}  #: most lines of each

Run = Callable[..., tuple[object, str]]


@dataclass(frozen=True)
class Example:
    """A program and its arguments."""

    name: str
    arguments: tuple[str, ...]
    prints: str  #: a pattern for the output
    needs: tuple[str, ...] = ()  #: required modules

    def skip_if_modules_are_missing(self) -> None:
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"needs {module}")


ALL = [
    Example("own_network", ("50",), r"50 simulations", ("torch",)),
    Example("own_game", ("100",), r"best: [A-E][1-5], [+-]"),
    Example("analyse_sgf", (), r"A7 .* mistake: ", ("sgfmill",)),
    Example("watch_analysis", ("200",), r"simulations, value"),
    Example("every_search", ("50",), r"alpha-beta +6 +\+1\.000"),
    Example("draw_path_search", (), r"\| A\* \| 729 \| 0 \| 73(.|\n)*drawn: path-search.svg"),
    Example("search_many", ("10", "10"), r"rows, .* in a batch"),
    Example("deterministic", ("100",), r"4 threads: "),
    Example("match_sprt", ("2",), r"2 games"),
    Example("selfplay_to_dataloader", ("data", "1"), r"\(\d+, 5, 6, 7\)", ("torch",)),
    Example("train_connect_four", ("run", "1", "4", "2"), r"generation 1", ("torch", "onnx")),
    Example("openspiel_bot", ("1", "20"), r"1 games, mean return [+-]", ("pyspiel",)),
    Example(
        "pettingzoo_game", ("classic/tictactoe-v3", "20"), r"ended by", ("pettingzoo", "pygame")
    ),
    Example("gymnasium_env", ("1", "20"), r"1 games, mean reward [+-]", ("gymnasium",)),
    Example("int8", (GO7, "go(board_size=7,komi=9.5)", "small.onnx", "64", "0"), "", ("onnx",)),
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a program in an empty folder; it returns status and output."""
    monkeypatch.chdir(tmp_path)

    def run_example(name: str, *arguments: str) -> tuple[object, str]:
        program = str(EXAMPLES / f"{name}.py")
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        status: object = 0
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as stop:
            status = stop.code
        return status, "".join(capsys.readouterr())

    return run_example


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_an_example_runs(example: Example, run: Run) -> None:
    example.skip_if_modules_are_missing()
    status, output = run(example.name, *example.arguments)
    assert status == 0
    assert re.search(example.prints, output), output


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("SZ[9]KM[6.5]HA[2]AB[gc][cg];W[ee];B[gg]", ["komi=6.5", "1. E5", "2. G3"]),
        ("SZ[5];B[cc];W[dd];B[];W[]", ["board_size=5", "4. pass"]),
        ("GM[4]SZ[9];B[ee]", ["error: another game: GM[4]"]),
    ],
)
def test_analyse_sgf_reads_the_game_in_a_file(content: str, lines: list[str], run: Run) -> None:
    pytest.importorskip("sgfmill")
    Path("game.sgf").write_text(f"(;{content})")
    _, output = run("analyse_sgf", "game.sgf", "8")
    for line in lines:
        assert line in output


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_an_example_has_help_and_rejects_unknown_options(example: Example, run: Run) -> None:
    example.skip_if_modules_are_missing()
    for argument, status, words in (("--help", 0, "Run:"), ("--no", 2, "error: ")):
        actual, output = run(example.name, argument)
        assert actual == status
        assert output.startswith(f"usage: {example.name}.py")
        assert words in output
    assert list(Path().iterdir()) == []


def test_every_example_is_tested_listed_and_short() -> None:
    programs = {path.stem: path for path in EXAMPLES.glob("*.py")}
    assert set(programs) == {example.name for example in ALL}
    listed = re.findall(r"^\| `(\w+)\.py`", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(programs)
    lines = {name: len(path.read_text().splitlines()) for name, path in programs.items()}
    assert [name for name in lines if lines[name] > ADAPTERS.get(name, MOST_LINES)] == []


def test_examples_are_not_installed() -> None:
    files = metadata.files("pyengine-search") or []
    assert [file for file in files if "examples" in file.parts] == []
