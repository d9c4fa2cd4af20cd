"""The scripts of models/ refuse wrong arguments with one line and status 2."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from conftest import ROOT

CONNECT4, GO9, TIC_TAC_TOE = (
    str(ROOT / "models" / f"{name}.onnx") for name in ("connect4", "go9", "tic_tac_toe")
)


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("alphago9", ["--teacher", "none.onnx"], "none.onnx does not exist"),
        ("alphago9", ["--until", "none", "--teacher", GO9], "--until must be one of games/"),
        ("alphago9", ["--scale", "nan"], "--scale must be above 0 and at most 100, got nan"),
        ("alphago9", ["--filters", "0"], "expected a whole number >= 1, got '0'"),
        ("rollouts", ["none.npz"], "none.npz: expected a rollout policy, got"),
        ("rollouts", ["policy.npz", "--simulations", "0"], "got '0'"),
        ("rollouts", ["policy.npz", "--ratio", "half"], "got 'half'"),
        ("score_utility", ["go9"], "go9 does not exist"),
        ("score_utility", [CONNECT4], "it has no score"),
        ("score_utility", [GO9, "--game", "othello"], "expected a game of Go, got othello"),
        ("targets", ["connect4", CONNECT4, "--only", "L3_R1"], "pons_L3_R1.csv does not exist"),
        (
            "targets",
            ["tic_tac_toe", TIC_TAC_TOE, "--only", "L3_R1"],
            "expected a part of games lost to all replies, 50 simulations; positions in which",
        ),
    ],
)
def test_a_script_refuses_wrong_arguments(
    script: str,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("onnx", reason="these scripts need the extra train")
    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    folder = "--directory" if script == "alphago9" else "--work"
    try:
        status = importlib.import_module(script).main([*arguments, folder, str(tmp_path)])
    except SystemExit as error:
        status = error.code
    assert status == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in " ".join(output.err.split())
