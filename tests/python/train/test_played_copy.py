"""Copies of a run's networks in other precisions, with which it plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import distributed, train
from pyengine.train.loop import part_learner, part_selfplay, played_copy
from pyengine.train.loop.state import Best, RunFolder
from run_games import Impatient, play_games, run_of

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
onnx = pytest.importorskip("onnx", reason="export needs onnx: the extra train")


PRECISIONS = ("int8", "float16")


def trained(path: Path, *games: str, precision: str = "int8") -> tuple[RunFolder, train.RunFile]:
    """Return the folder of a run after 10 training steps, and the run."""
    run = run_of(
        run={"steps": 10},
        game={"name": games},
        selfplay={"precision": precision},
        train={"batch_size": 16},
        window={"minimum_positions": 20, "samples_per_position": 1000},
        gate={"every_steps": 10},
    )
    folder = RunFolder(path)
    folder.begin(run)
    for game in games:
        play_games(folder, run_of(game={"name": game}), 10)
    part_learner.work(Impatient("learner", folder, run))
    return folder, run


def precision_of(path: Path) -> str:
    """Return the precision of a model's convolutions."""
    graph = onnx.load(path).graph
    if any(node.op_type == "QuantizeLinear" for node in graph.node):
        return "int8"
    half = onnx.TensorProto.FLOAT16
    return "float16" if half in {weights.data_type for weights in graph.initializer} else "float32"


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_copy_of_a_candidate_is_used_for_playing(precision: str, tmp_path: Path) -> None:
    folder, run = trained(tmp_path, "tic_tac_toe", precision=precision)
    assert folder.candidates() == [0, 10]
    assert precision_of(folder.candidate(10)) == "float32"
    assert precision_of(folder.played_copy(10)) == precision
    assert folder.played(10) == folder.played_copy(10)
    assert folder.played(0) == folder.candidate(0)  # written before there are positions
    name, sha256 = folder.candidate(10).name, "0" * 64
    best = Best(name=name, sha256=sha256, step=10, generation=1, elo=0.0)
    playing = part_selfplay.evaluator_of(best, folder)
    states = [run.games[0].new_initial_state()]
    copied = pyengine.OnnxEvaluator(folder.played_copy(10)).evaluate(states)
    np.testing.assert_array_equal(playing.evaluate(states)[0], copied[0])
    folder.remove_candidate(10)
    assert folder.candidates() == [0]
    assert not folder.played_copy(10).exists()


def test_an_interrupted_removal_leaves_no_copy_without_its_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    folder.models.mkdir()
    folder.candidate(10).touch()
    folder.played_copy(10).touch()
    remove = Path.unlink

    def remove_one(path: Path, missing_ok: bool = False) -> None:
        remove(path, missing_ok)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", remove_one)
    with pytest.raises(KeyboardInterrupt):
        folder.remove_candidate(10)
    assert (folder.candidates(), folder.played_copy(10).exists()) == ([10], False)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_one_copy_works_on_all_boards(precision: str, tmp_path: Path) -> None:
    names = ("gomoku(board_size=5,win_length=4)", "gomoku(board_size=6,win_length=4)")
    folder, run = trained(tmp_path, *names, precision=precision)
    network, copied = map(pyengine.OnnxEvaluator, (folder.candidate(10), folder.played_copy(10)))
    for game in run.games:
        states = [game.new_initial_state()]
        expected, outputs = network.evaluate(states), copied.evaluate(states)
        np.testing.assert_allclose(outputs[0], expected[0], atol=0.05)
        np.testing.assert_allclose(outputs[1], expected[1], atol=0.1)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_inaccurate_copy_is_discarded_and_reported(
    precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(played_copy._LIMITS, "policy_mean", 0.0)
    stale = RunFolder(tmp_path).played_copy(10)  # left by a writer that crashed
    write = part_learner._write_with_copy

    def write_over_stale_copy(*args: Any) -> str | None:
        stale.touch()
        return write(*args)

    monkeypatch.setattr(part_learner, "_write_with_copy", write_over_stale_copy)
    folder, _ = trained(tmp_path, "tic_tac_toe", precision=precision)
    assert not stale.exists()
    assert folder.candidates() == [0, 10]
    assert folder.played(10) == folder.candidate(10)
    failure = folder.status("learner")["failure"]
    assert f"no {precision} copy of candidate-00000010.onnx, which plays in float32" in failure
    assert "tic_tac_toe: policy, mean" in failure


def test_a_network_whose_numbers_do_not_fit_into_float16_plays_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyengine.conversion.float16._MAX_ACTIVATION", 1e-3)
    folder, _ = trained(tmp_path, "tic_tac_toe", precision="float16")
    assert folder.played(10) == folder.candidate(10)
    assert "in float32: activation, max" in folder.status("learner")["failure"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_cluster_refuses_copies(precision: str, tmp_path: Path) -> None:
    run = run_of(selfplay={"precision": precision})
    with pytest.raises(pyengine.ConfigError, match=r"selfplay\.precision: expected .float32. on"):
        distributed.train(run, tmp_path)
