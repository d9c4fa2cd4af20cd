"""``pyengine convert``: what it makes, what it prints, its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.conversion import Comparison, Int8Report, LimitCheck, read_leela

pytest.importorskip("typer", reason="the extra cli is not installed")
pytest.importorskip("onnx", reason="the extra convert is not installed")

from pyengine.cli import main

Output = pytest.CaptureFixture[str]


def test_random_weights_become_onnx_and_int8(tmp_path: Path, capsys: Output) -> None:
    weights, network = tmp_path / "w.txt.gz", tmp_path / "w.onnx"
    options = ["--random", "2x8", "--board-size", "5", "--seed", "1"]
    assert main(["convert", *options, "-o", str(weights)]) == 0
    assert "2 blocks of 8 channels, 5x5" in capsys.readouterr().out
    assert main(["convert", str(weights)]) == 0
    assert pyengine.OnnxEvaluator(network, providers=["cpu"]).spec is not None
    capsys.readouterr()
    small = ["--positions", "64", "--games", "2", "--simulations", "4", "--json"]
    status = main(["convert", "--int8", str(network), "--game", "go", "-p", "board_size=5", *small])
    report = json.loads(capsys.readouterr().out)
    assert status == (0 if report["passed"] else 1)
    assert (tmp_path / "w.int8.onnx").exists() == report["passed"]
    assert {check["name"] for check in report["checks"]} >= {"policy, mean", "first choice"}


def test_a_float16_network_is_written_here_with_a_table(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["--positions", "64", "--games", "0"]
    assert main(["convert", "--fp16", "tic_tac_toe", *small]) == 0
    said = capsys.readouterr().out
    assert "PASS  weight, max" in said
    assert "<= 65504  tensor" in said
    assert "PASS  first choice" in said
    assert "7 layers in float16, 3 in float32" in said
    assert "passed: written: tic_tac_toe.fp16.onnx" in said
    assert main(["convert", "--fp16", "tic_tac_toe.fp16.onnx", "-g", "tic_tac_toe", *small]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "expected a float32 network, found float16 already" in said


def test_random_weights_may_become_onnx_at_once(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "net.onnx"
    assert main(["convert", "--random", "1x4", "--board-size", "4", "-o", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {
        "path": str(path), "blocks": 1, "channels": 4, "board_size": 4, "version": 1
    }  # fmt: skip
    engine = pyengine.Engine("go(board_size=4)", path, threads=1)
    assert engine.search(engine.game.new_initial_state(), simulations=10).simulations == 10


def test_the_default_name_tells_the_size(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["convert", "--random", "1x4", "--board-size", "3"]) == 0
    assert read_leela("random-1x4.txt.gz").board_size == 3
    assert "random-1x4.txt.gz" in capsys.readouterr().out


def test_a_network_that_loses_too_much_ends_with_1_and_a_table(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tmp_path / "net.onnx"
    main(["convert", "--random", "1x4", "--board-size", "4", "-o", str(network)])
    checks = (
        LimitCheck("policy, mean", 0.5, 0.04, "failed", "total variation"),
        LimitCheck("first choice", 0.95, 0.9, "passed"),
    )
    unlike = Comparison(64, 0.5, 0.9, 1.0, 0.0, 0.1, 0.95, 0.0)

    def fail(*_: Any, **__: Any) -> Int8Report:
        return Int8Report(None, checks, 64, unlike, None, 2, 3, 3.0)

    monkeypatch.setattr("pyengine.cli.convert.quantise", fail)
    capsys.readouterr()
    assert main(["convert", "--int8", str(network), "--game", "go(board_size=4)"]) == 1
    said = capsys.readouterr().out
    assert "FAIL  policy, mean" in said
    assert "PASS  first choice" in said
    assert "nothing written" in said


@pytest.mark.parametrize(("path", "status"), [(None, 1), (Path("net.int8.onnx"), 0)])
def test_a_match_that_does_not_tell_is_said_to_be_open(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, path: Path | None, status: int
) -> None:
    alike = Comparison(64, 0, 0, 0, 0, 0, 1, 0)
    checks = (LimitCheck("match, evidence", 0.4, 2.944, "undecided", "2 won"),)
    asked: dict[str, Any] = {}

    def note(*_: Any, **options: Any) -> Int8Report:
        asked.update(options)
        return Int8Report(path, checks, 64, alike, None, 2, 3, 3.0)

    monkeypatch.setattr("pyengine.cli.convert.quantise", note)
    options = [] if path is None else ["--write-undecided", "--margin", "80"]
    assert main(["convert", "--int8", "connect4", *options]) == status
    said = capsys.readouterr().out
    assert "OPEN  match, evidence" in said
    assert f"undecided: {'nothing written' if path is None else 'written: net'}" in said
    assert asked["write_undecided"] == (path is not None)
    assert asked["limits"].margin == (50 if path is None else 80)


def test_a_bundled_network_knows_its_game_and_is_written_here(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def note(*arguments: Any, **_: Any) -> Int8Report:
        asked.extend(arguments)
        return Int8Report(None, (), 64, Comparison(1, 0, 0, 0, 0, 0, 1, 0), None, 1, 1, 1.0)

    monkeypatch.setattr("pyengine.cli.convert.quantise", note)
    monkeypatch.chdir(tmp_path)
    assert main(["convert", "--int8", "connect4"]) == 0
    assert asked == [
        pyengine.bundled_models()["connect4"],
        Path("connect4.int8.onnx"),
        pyengine.load_game("connect_four"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "name a MODEL"),
        ("no.txt", "no.txt is no file"),
        ("--random 5", "BLOCKSxCHANNELS"),
        ("--random 5x64x2", "BLOCKSxCHANNELS"),
        ("--random 5x0", "channels: expected"),
        ("--random 5x64 w.txt", "neither MODEL nor --int8"),
        ("--random 5x64 --fp16", "neither MODEL nor --int8, --fp16 or --score-utility"),
        ("--int8 --fp16 connect4", "give one of --int8, --fp16 or --score-utility"),
        ("--fp16", "name a MODEL"),
        ("--fp16 FILE", "--int8 and --fp16 need the game"),
        ("--fp16 no.onnx --game go", "no.onnx is no file"),
        ("--fp16 --to npz FOLDER", "--to is for training data"),
        ("--random 5x64 --board-size 20", "--board-size"),
        ("--int8", "name a MODEL"),
        ("--int8 connect4 --game chess", "chess"),
        ("--int8 FILE", "--game"),
        ("--int8 no.onnx --game go", "no.onnx is no file"),
        ("--int8 FILE --game go --positions 3", "--positions"),
        ("--random 1x4 -o no/w.gz", "found no folder no"),
        ("--random 1x4 -o FOLDER", "found a directory of that name"),
        ("--int8 FILE --game go -o no/w.onnx", "found no folder no"),
        ("--int8 FILE --game go --margin 0", "--margin: expected"),
        ("FILE", "ONNX already"),
        ("--int8 FILE --game go -o FILE", "expected an output other than the input"),
        ("--fp16 FILE --game go -o FILE", "expected an output other than the input"),
        ("--score-utility 0.1 FILE -o FILE", "expected an output other than the input"),
    ],
)
def test_wrong_use_ends_with_2_and_says_why(
    tmp_path: Path, capsys: Output, arguments: str, words: str
) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"")
    names = {"FILE": str(file), "FOLDER": str(tmp_path)}
    given = [names.get(word, word) for word in arguments.split()]
    assert main(["convert", *given]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert words in said


def test_damaged_weights_end_with_1_and_one_line(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "w.txt").write_text("7\n")
    assert main(["convert", str(tmp_path / "w.txt")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected Leela Zero weights: a first line of '1' or '2', found '7'" in line


def test_the_command_has_help(capsys: Output) -> None:
    assert main(["convert", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--int8" in said
    assert "--fp16" in said
    assert "--random" in said
    for format_ in ("ONNX", "NumPy's arrays (npz)", "Parquet", "SGF", "training data (shards)"):
        assert format_ in said
    for option in ("--positions", "--games", "--simulations", "--match-seconds", "--margin"):
        assert "With --int8" in said.partition(option)[2].partition("[default")[0]
