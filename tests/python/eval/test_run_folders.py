"""A training run's folder stands for the player that its self-play uses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pyengine
from conftest import ROOT


def run_folder(folder: Path, best: str | None) -> Path:
    """Return the folder of a run with a network, and with this text in best.json."""
    (folder / "models").mkdir()
    shutil.copy(ROOT / "models" / "connect4.onnx", folder / "models" / "candidate-1.onnx")
    (folder / "run.toml").touch()
    if best is not None:
        (folder / "best.json").write_text(best)
    return folder


def evaluator_of(folder: str | Path) -> str:
    return repr(pyengine.Engine("connect_four", folder).evaluator)


@pytest.mark.parametrize("as_text", [str, Path])
def test_the_folder_of_a_run_is_its_best_network(tmp_path: Path, as_text: type) -> None:
    best = json.dumps({"name": "candidate-1.onnx", "sha256": "0"})
    assert "candidate-1.onnx" in evaluator_of(as_text(run_folder(tmp_path, best)))


def test_the_folder_of_a_run_without_an_accepted_network_is_its_first_player(
    tmp_path: Path,
) -> None:
    best = json.dumps({"name": "rollout", "sha256": None})
    assert "Rollout" in evaluator_of(run_folder(tmp_path, best))


@pytest.mark.parametrize(
    ("best", "refusal"),
    [(None, "has no network yet"), ("{", "is damaged"), ("[]", "is damaged")],
)
def test_a_folder_without_a_usable_network_is_refused(
    tmp_path: Path, best: str | None, refusal: str
) -> None:
    with pytest.raises(pyengine.ModelError, match=refusal):
        evaluator_of(run_folder(tmp_path, best))


def test_commands_play_the_network_of_a_run(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    import commands

    run_folder(tmp_path, json.dumps({"name": "candidate-1.onnx", "sha256": "0"}))
    done = commands.run("search", "connect_four", "--model", str(tmp_path), "-n", "8")
    assert done.status == 0, done.err
