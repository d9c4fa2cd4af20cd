"""``pyengine convert``: files, output, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.conversion import Comparison, ConversionReport, LimitCheck, read_leela

pytest.importorskip("typer", reason="the extra cli is not installed")
pytest.importorskip("onnx", reason="the extra convert is not installed")

from pyengine.cli import main

Output = pytest.CaptureFixture[str]


def convert(*words: str | Path) -> int:
    return main(["convert", *map(str, words)])


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


def test_random_weights_become_onnx_and_int8(tmp_path: Path, capsys: Output) -> None:
    weights, network = tmp_path / "w.txt.gz", tmp_path / "w.onnx"
    assert convert("random", "2x8", "--board-size", "5", "--seed", "1", "-o", weights) == 0
    assert "2 blocks of 8 channels, 5x5" in capsys.readouterr().out
    assert convert("leela", weights) == 0
    assert pyengine.OnnxEvaluator(network, providers=["cpu"]).spec is not None
    capsys.readouterr()
    small = ["--positions", "32", "--games", "2", "--simulations", "4", "--json"]
    status = convert("int8", network, "--game", "go(board_size=5)", *small)
    result = json.loads(capsys.readouterr().out)
    assert status == (0 if result["passed"] else 1)
    assert (tmp_path / "w.int8.onnx").exists() == result["passed"]
    assert {check["name"] for check in result["checks"]} >= {"policy, mean", "first choice"}


def test_a_float16_network_is_written_to_the_working_folder(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["--positions", "32", "--games", "0"]
    assert convert("float16", "tic_tac_toe", *small) == 0
    output = capsys.readouterr().out
    for line in (
        "PASS  weight, max",
        "<= 65504  tensor",
        "PASS  first choice",
        "7 layers in float16, 3 in float32",
        "passed: written: tic_tac_toe.float16.onnx",
    ):
        assert line in output
    assert convert("float16", "tic_tac_toe.float16.onnx", "-g", "tic_tac_toe", *small) == 1
    assert "float16 already" in capsys.readouterr().err


def test_random_weights_can_be_written_as_onnx(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "net.onnx"
    assert convert("random", "1x4", "--board-size", "4", "-o", path, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {
        "path": str(path), "blocks": 1, "channels": 4, "board_size": 4, "version": 1
    }  # fmt: skip
    engine = pyengine.Engine("go(board_size=4)", path, threads=1)
    assert engine.search(engine.game.new_initial_state(), simulations=10).simulations == 10


def test_the_default_name_contains_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert convert("random", "1x4", "--board-size", "3") == 0
    assert read_leela("random-1x4.txt.gz").board_size == 3


def test_a_network_that_fails_exits_with_1_and_a_table(
    capsys: Output, quantised: dict[str, Any]
) -> None:
    quantised["report"] = report(
        None,
        LimitCheck("policy, mean", 0.5, 0.04, "failed", "total variation"),
        LimitCheck("first choice", 0.95, 0.9, "passed"),
    )
    assert convert("int8", "connect4") == 1
    output = capsys.readouterr().out
    assert "FAIL  policy, mean" in output
    assert "PASS  first choice" in output
    assert "2 layers in int8, 3 in float32; 3.00 times" in output
    assert "failed: nothing written" in output


@pytest.mark.parametrize(("path", "status"), [(None, 1), (Path("net.int8.onnx"), 0)])
def test_an_undecided_match_is_reported_as_open(
    capsys: Output, quantised: dict[str, Any], path: Path | None, status: int
) -> None:
    check = LimitCheck("match, evidence", 0.4, 2.944, "undecided", "2 won")
    quantised["report"] = report(path, check)
    options = [] if path is None else ["--write-undecided", "--margin", "80"]
    assert convert("int8", "connect4", *options) == status
    output = capsys.readouterr().out
    assert "OPEN  match, evidence" in output
    assert f"undecided: {'nothing written' if path is None else 'written: net'}" in output
    assert ("raise --games" in output) == (path is None)
    assert quantised["write_undecided"] == (path is not None)
    assert quantised["limits"].margin == (50 if path is None else 80)


def test_a_bundled_network_implies_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quantised: dict[str, Any]
) -> None:
    quantised["report"] = report(None)
    monkeypatch.chdir(tmp_path)
    assert convert("int8", "connect4") == 0
    assert quantised["arguments"] == (
        pyengine.bundled_models()["connect4"],
        Path("connect4.int8.onnx"),
        pyengine.load_game("connect_four"),
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("leela no.txt", "no.txt is not a file"),
        ("random 5", "BLOCKSxCHANNELS"),
        ("random 5x64x2", "BLOCKSxCHANNELS"),
        ("random 5x0", "channels: expected"),
        ("random 5x64 --board-size 20", "--board-size"),
        ("random 1x4 -o no/w.gz", "the directory no does not exist"),
        ("random 1x4 -o FOLDER", "expected the name of a file, got a directory"),
        ("float16 no.onnx --game go", "no.onnx is not a file"),
        ("float16 FILE", "use --game"),
        ("float16 FILE --game go -o FILE", "the output would replace the input"),
        ("int8 connect4 --game chess", "chess"),
        ("int8 FILE --game go --positions 3", "--positions"),
        ("int8 FILE --game go -o no/w.onnx", "the directory no does not exist"),
        ("int8 FILE --game go --margin 0", "margin: expected"),
        ("score-utility FILE --weight 7", "weight: expected a number in [0, 1]"),
        ("score-utility FILE -o FILE", "the output would replace the input"),
        ("shards no --to npz", "no does not exist"),
        ("sgf no -g go -o out", "no does not exist"),
    ],
)
def test_wrong_use_exits_with_2_and_a_reason(
    tmp_path: Path, capsys: Output, arguments: str, words: str
) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"")
    names = {"FILE": str(file), "FOLDER": str(tmp_path)}
    assert convert(*(names.get(word, word) for word in arguments.split())) == 2
    output = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert words in output


def test_damaged_weights_exit_with_1_and_one_line(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "w.txt").write_text("7\n")
    assert convert("leela", tmp_path / "w.txt") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "Leela Zero weights" in line
