"""``pyengine convert``: files, output, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pyengine
from commands import Done, run
from pyengine.conversion import Comparison, ConversionReport, LimitCheck, read_leela

pytest.importorskip("onnx", reason="the extra convert is not installed")


def convert(arguments: str) -> Done:
    return run("convert", *arguments.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quantised(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the conversion: record its arguments and return the entry "report"."""
    calls: dict[str, Any] = {}

    def quantise(*arguments: Any, **options: Any) -> ConversionReport:
        calls.update(options, arguments=arguments)
        return calls["report"]

    monkeypatch.setattr("pyengine.conversion.quantise", quantise)
    return calls


def report(path: Path | None, *checks: LimitCheck) -> ConversionReport:
    comparison = Comparison(64, 0, 0, 0, 0, 0, 1, 0)
    return ConversionReport(path, checks, 64, comparison, None, converted=2, kept=3, speedup=3.0)


def test_random_weights_become_onnx_and_int8(folder: Path) -> None:
    done = convert("random 2x8 --board-size 5 --seed 1 -o w.txt.gz")
    assert "2 blocks of 8 channels, 5x5" in done.out
    assert convert("leela w.txt.gz").status == 0
    assert pyengine.OnnxEvaluator("w.onnx", providers=["cpu"]).spec is not None
    small = "--positions 32 --games 2 --simulations 4 --json"
    done = convert(f"int8 w.onnx --game go(board_size=5) {small}")
    result = json.loads(done.out)
    assert done.status == (0 if result["passed"] else 1)
    assert (folder / "w.int8.onnx").exists() == result["passed"]
    assert {check["name"] for check in result["checks"]} >= {"policy, mean", "first choice"}


def test_random_weights_can_be_written_as_onnx_and_are_named_after_their_size(folder: Path) -> None:
    done = convert("random 1x4 --board-size 4 -o net.onnx --json")
    facts = {"path": "net.onnx", "blocks": 1, "channels": 4, "board_size": 4, "version": 1}
    assert json.loads(done.out) == facts
    assert pyengine.OnnxEvaluator("net.onnx", providers=["cpu"]).spec is not None
    assert convert("random 1x4 --board-size 3").status == 0
    assert read_leela("random-1x4.txt.gz").board_size == 3


def test_a_float16_network_is_written_to_the_working_folder(folder: Path) -> None:
    done = convert("float16 tic_tac_toe --positions 32 --games 0")
    assert done.status == 0
    for line in (
        "PASS  weight, max",
        "<= 65504  tensor",
        "PASS  first choice",
        "7 layers in float16, 3 in float32",
        "passed: written: tic_tac_toe.float16.onnx",
    ):
        assert line in done.out
    done = convert("float16 tic_tac_toe.float16.onnx -g tic_tac_toe")
    assert done.status == 1
    assert "float16 already" in done.err


def test_a_network_that_fails_exits_with_1_and_a_table(quantised: dict[str, Any]) -> None:
    quantised["report"] = report(
        None,
        LimitCheck("policy, mean", 0.5, 0.04, "failed", "total variation"),
        LimitCheck("first choice", 0.95, 0.9, "passed"),
    )
    done = convert("int8 connect4")
    assert done.status == 1
    assert "FAIL  policy, mean" in done.out
    assert "PASS  first choice" in done.out
    assert "2 layers in int8, 3 in float32; 3.00 times" in done.out
    assert "failed: nothing written" in done.out


@pytest.mark.parametrize(("path", "status"), [(None, 1), (Path("net.int8.onnx"), 0)])
def test_an_undecided_match_is_reported_as_open(
    quantised: dict[str, Any], path: Path | None, status: int
) -> None:
    check = LimitCheck("match, evidence", 0.4, 2.944, "undecided", "2 won")
    quantised["report"] = report(path, check)
    options = "" if path is None else "--write-undecided --margin 80"
    done = convert(f"int8 connect4 {options}")
    assert done.status == status
    assert "OPEN  match, evidence" in done.out
    assert f"undecided: {'nothing written' if path is None else 'written: net'}" in done.out
    assert ("raise --games" in done.out) == (path is None)
    assert quantised["write_undecided"] == (path is not None)
    assert quantised["limits"].margin == (50 if path is None else 80)


def test_a_bundled_network_implies_its_game(folder: Path, quantised: dict[str, Any]) -> None:
    quantised["report"] = report(None)
    assert convert("int8 connect4").status == 0
    assert quantised["arguments"] == (
        pyengine.bundled_models()["connect4"],
        Path("connect4.int8.onnx"),
        pyengine.load_game("connect_four"),
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("leela no.txt", "'no.txt' does not exist"),
        ("random 5", "BLOCKSxCHANNELS"),
        ("random 5x64x2", "BLOCKSxCHANNELS"),
        ("random 5x0", "channels: expected"),
        ("random 5x64 --board-size 20", "--board-size"),
        ("random 1x4 -o no/w.gz", "the directory no does not exist"),
        ("random 1x4 -o .", "expected the name of a file, got a directory"),
        ("float16 no.onnx --game go", "no.onnx is not a file"),
        ("float16 net.onnx", "use --game"),
        ("int8 connect4 --game chess", "chess"),
        ("int8 net.onnx --game go --positions 3", "--positions"),
        ("int8 net.onnx --game go -o no/w.onnx", "the directory no does not exist"),
        ("int8 net.onnx --game go --margin 0", "margin: expected"),
        ("score-utility net.onnx --weight 7", "weight: expected a number in [0, 1]"),
        ("shards no --to npz", "'no' does not exist"),
        ("sgf no -g go -o out", "'no' does not exist"),
    ],
)
def test_wrong_use_exits_with_2_and_a_reason(folder: Path, arguments: str, words: str) -> None:
    (folder / "net.onnx").touch()
    done = convert(arguments)
    assert done.status == 2
    assert words in done.words


def test_damaged_weights_exit_with_1_and_one_line(folder: Path) -> None:
    (folder / "w.txt").write_text("7\n")
    done = convert("leela w.txt")
    assert done.status == 1
    (line,) = done.err.splitlines()
    assert "Leela Zero weights" in line
