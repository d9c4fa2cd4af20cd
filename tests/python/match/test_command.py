"""``pyengine match``: report, exit status and resumption after Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the extra cli is not installed")

COMMAND = [sys.executable, "-m", "pyengine.cli", "match"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with pipes."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_match_is_reported_as_text_and_as_json() -> None:
    arguments = ["tic_tac_toe", "rollout", "uniform", "-n", "20", "--games", "6", "--plies", "1"]
    done = run(*arguments, "--sprt", "0,50")
    assert done.returncode == 0
    assert done.stdout.startswith("rollout - uniform: 6 games: +")
    assert "SPRT: not decided after 3 pairs" in done.stdout
    fields = json.loads(run(*arguments, "--json").stdout)
    assert fields["wins"] + fields["draws"] + fields["losses"] == fields["games"] == 6


def test_games_may_be_cut_short() -> None:
    """Four moves never make three in a row."""
    done = run("tic_tac_toe", "uniform", "rollout", "-n", "8", "--max-plies", "4", "--plies", "2",
               "--games", "6", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["draws"] == 6


def test_each_side_has_separate_settings(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    done = run(
        "tic_tac_toe", "uniform", "uniform", "-n", "8", "--games", "2", "--record", str(record),
        "--set-a", "collision=virtual_loss", "--set-b", "solver=false", "--set-b", "in_flight=1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    header = json.loads(record.read_text().splitlines()[0])
    assert header["a"]["settings"] == {"simulations": 8, "collision": "virtual_loss"}
    assert header["b"]["settings"] == {"simulations": 8, "solver": False, "in_flight": 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("chess uniform uniform", "unknown game"),
        ("tic_tac_toe uniform no.onnx", "neither a file nor"),
        ("tic_tac_toe uniform uniform --set-a solver", "NAME=VALUE"),
        ("tic_tac_toe uniform uniform --set-b nothing=1", "nothing"),
        ("tic_tac_toe uniform uniform --sprt 5", "ELO0,ELO1"),
        ("tic_tac_toe uniform uniform --sprt 5,1", "elo0"),
        ("tic_tac_toe uniform uniform --max-value 0.5", "evaluator"),
    ],
)
def test_wrong_use_exits_with_2_and_a_message(arguments: str, words: str) -> None:
    done = run(*arguments.split())
    assert done.returncode == 2
    assert words in " ".join(done.stderr.replace("│", "").split())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_prints_the_finished_games_and_the_match_resumes(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    arguments = [*COMMAND, "connect_four", "uniform", "uniform", "-n", "100", "--record", record,
                 "--concurrent", "2", "--games", "100000"]  # fmt: skip
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if record.exists() and record.read_text().count("\n") > 5:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "ended early: interrupted" in printed
    kept = record.read_text().count("\n") - 1
    done = run("connect_four", "uniform", "uniform", "-n", "100", "--record", str(record),
               "--games", str(kept // 2 * 2), "--concurrent", "2")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{kept // 2 * 2:,} games" in done.stdout
