"""Conversions of networks that say what they expect of the last board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyengine
from converted import ANYTHING, GAME, QUICK
from pyengine.conversion import quantise, to_float16
from pyengine.conversion.comparison import Limits, compare

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")

from pyengine import train  # noqa: E402
from pyengine.train.loop import int8_copy  # noqa: E402
from pyengine.train.network import new_network  # noqa: E402

SPEC = pyengine.ModelSpec()


def written(path: Path, seed: int = 0, *, final_board: bool = True) -> Path:
    """Write a network of random weights for Go 5x5."""
    loss = train.LossConfig(ownership_weight=1.5, score_weight=0.0015)
    network = train.NetworkConfig(kind="convolutional", blocks=2, filters=16)
    config = train.TrainConfig(network=network, loss=loss, learner=train.LearnerConfig(seed=seed))
    module = new_network(config, 3, (5, 5), 26).eval()
    return train.export(module, GAME, SPEC, path, final_board=final_board).path


def test_a_conversion_compares_ownership_and_score(tmp_path: Path) -> None:
    source = written(tmp_path / "net.onnx")
    limits = replace(ANYTHING, ownership_mean=1.0, score_mean=20.0)
    report = quantise(source, tmp_path / "out.onnx", GAME, limits=limits, **QUICK)
    names = [check.name for check in report.checks]
    assert names[-2:] == ["ownership, mean", "score, mean"]
    assert report.comparison.ownership_mean is not None
    assert report.comparison.score_mean is not None
    assert 0 < report.comparison.ownership_mean < 0.1
    assert 0 < report.comparison.score_mean < 2
    for name in ("ownership_mean", "score_mean"):
        strict = replace(limits, **{name: 0.0})
        refused = quantise(source, tmp_path / "none.onnx", GAME, limits=strict, **QUICK)
        assert refused.outcome == "failed"
    assert not (tmp_path / "none.onnx").exists()


def test_another_board_is_refused_before_games_are_played(tmp_path: Path) -> None:
    source = written(tmp_path / "net.onnx")
    for change in (quantise, to_float16):
        with pytest.raises(pyengine.ModelError, match=r"does not fit the game: .*7,7.*found .*5,5"):
            change(source, tmp_path / "out.onnx", "go(board_size=7)", **QUICK)
    assert not (tmp_path / "out.onnx").exists()


def test_another_network_owns_other_points(tmp_path: Path) -> None:
    states = [pyengine.load_game(GAME).new_initial_state([n]) for n in range(8)]
    one, other = (
        pyengine.OnnxEvaluator(written(tmp_path / f"{n}.onnx", n), providers=["cpu"])
        for n in (0, 1)
    )
    assert compare(one, one, states).ownership_mean == 0
    apart = compare(one, other, states)
    checks = {check.name: check for check in apart.checks(Limits(turned=1.0), apart)}
    assert not checks["ownership, mean"].passed


def test_what_one_of_two_does_not_say_is_not_compared(tmp_path: Path) -> None:
    states = [pyengine.load_game(GAME).new_initial_state()]
    one, other = (
        pyengine.OnnxEvaluator(
            written(tmp_path / f"{said}.onnx", final_board=said), providers=["cpu"]
        )
        for said in (True, False)
    )
    found = compare(one, other, states)
    assert (found.ownership_mean, found.score_mean) == (None, None)


def test_an_int8_copy_has_policy_and_value_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(int8_copy._LIMITS, "agreement", 0.0)  # random weights prefer no move
    source = written(tmp_path / "net.onnx")
    game = pyengine.load_game(GAME)
    states = [game.new_initial_state([n]) for n in range(25)]
    planes = [np.stack([state.observation_tensor(SPEC) for state in states])]
    refused = int8_copy.write_copy(source, tmp_path / "copy.onnx", planes, [game])
    assert refused is None
    evaluator = pyengine.OnnxEvaluator(tmp_path / "copy.onnx", providers=["cpu"])
    assert not evaluator.has_final_board
    graph, original = (onnx.load(tmp_path / name).graph for name in ("copy.onnx", "net.onnx"))
    assert [output.name for output in graph.output] == ["policy", "value"]
    heads = {"own", "score"}
    assert any(head in node.name for node in original.node for head in heads)
    assert not [node.name for node in graph.node if any(head in node.name for head in heads)]


def test_an_ownership_that_is_none_is_refused_before_the_games(tmp_path: Path) -> None:
    source = written(tmp_path / "net.onnx")
    spec = replace(SPEC, ownership_output="score", score_output=None)
    stages: list[str] = []
    with pytest.raises(pyengine.EvaluationError, match="numbers of the last board, found"):
        quantise(
            source,
            tmp_path / "out.onnx",
            GAME,
            spec=spec,
            on_progress=lambda stage, _: stages.append(stage),
            **QUICK,
        )
    assert stages == []
