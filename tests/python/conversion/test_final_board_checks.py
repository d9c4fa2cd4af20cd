"""Conversions of networks that predict the final board."""

from __future__ import annotations

import functools
from collections.abc import Callable
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

Networks = Callable[..., Path]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Networks:
    """Return a cached function that writes random networks for Go 5x5."""
    folder = tmp_path_factory.mktemp("networks")

    @functools.cache
    def write(seed: int = 0, *, final_board: bool = True) -> Path:
        loss = train.LossConfig(ownership_weight=1.5, score_weight=0.0015)
        network = train.NetworkConfig(kind="convolutional", blocks=2, filters=8)
        learner = train.LearnerConfig(seed=seed)
        config = train.TrainConfig(network=network, loss=loss, learner=learner)
        module = new_network(config, 3, (5, 5), 26).eval()
        path = folder / f"{seed}-{final_board}.onnx"
        return train.export(module, GAME, SPEC, path, final_board=final_board).path

    return write


def test_a_conversion_compares_ownership_and_score(tmp_path: Path, written: Networks) -> None:
    source = written()
    limits = replace(ANYTHING, ownership_mean=1.0, score_mean=20.0)
    report = quantise(source, tmp_path / "out.onnx", GAME, limits=limits, **QUICK)
    names = [check.name for check in report.checks]
    assert names[-2:] == ["ownership, mean", "score, mean"]
    assert report.comparison.ownership_mean is not None
    assert report.comparison.score_mean is not None
    assert 0 < report.comparison.ownership_mean < 0.1
    assert 0 < report.comparison.score_mean < 2
    strict = replace(limits, ownership_mean=0.0, score_mean=0.0)
    failed = [check.name for check in report.comparison.checks(strict) if not check.passed]
    assert failed == ["ownership, mean", "score, mean"]


def test_another_board_is_refused_before_any_game(tmp_path: Path, written: Networks) -> None:
    source = written()
    for change in (quantise, to_float16):
        with pytest.raises(pyengine.ModelError, match=r"does not fit the game: .*7,7.*got .*5,5"):
            change(source, tmp_path / "out.onnx", "go(board_size=7)", **QUICK)
    assert not (tmp_path / "out.onnx").exists()


def test_different_networks_differ_in_ownership(tmp_path: Path, written: Networks) -> None:
    states = [pyengine.load_game(GAME).new_initial_state([n]) for n in range(8)]
    one, other = (pyengine.OnnxEvaluator(written(n), providers=["cpu"]) for n in (0, 1))
    assert compare(one, one, states).ownership_mean == 0
    difference = compare(one, other, states)
    checks = {check.name: check for check in difference.checks(Limits(turned=1.0), difference)}
    assert not checks["ownership, mean"].passed


def test_outputs_that_one_network_lacks_are_not_compared(tmp_path: Path, written: Networks) -> None:
    states = [pyengine.load_game(GAME).new_initial_state()]
    one, other = (
        pyengine.OnnxEvaluator(written(final_board=final_board), providers=["cpu"])
        for final_board in (True, False)
    )
    comparison = compare(one, other, states)
    assert (comparison.ownership_mean, comparison.score_mean) == (None, None)


def test_an_int8_copy_has_only_policy_and_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Networks
) -> None:
    monkeypatch.setitem(int8_copy._LIMITS, "agreement", 0.0)  # random networks agree on no move
    source = written()
    game = pyengine.load_game(GAME)
    states = [game.new_initial_state([n]) for n in range(25)]
    planes = [np.stack([state.observation_tensor(SPEC) for state in states])]
    refused = int8_copy.write_copy(source, tmp_path / "copy.onnx", planes, [game])
    assert refused is None
    evaluator = pyengine.OnnxEvaluator(tmp_path / "copy.onnx", providers=["cpu"])
    assert not evaluator.has_final_board
    graph, original = (onnx.load(path).graph for path in (tmp_path / "copy.onnx", source))
    assert [output.name for output in graph.output] == ["policy", "value"]
    heads = {"own", "score"}
    assert any(head in node.name for node in original.node for head in heads)
    assert not [node.name for node in graph.node if any(head in node.name for head in heads)]


def test_an_output_that_is_not_an_ownership_is_refused_before_any_game(
    tmp_path: Path, written: Networks
) -> None:
    source = written()
    spec = SPEC.replace(ownership_output="score", score_output=None)
    stages: list[str] = []
    with pytest.raises(pyengine.EvaluationError, match="expected a final board"):
        quantise(
            source,
            tmp_path / "out.onnx",
            GAME,
            spec=spec,
            on_progress=lambda stage, _: stages.append(stage),
            **QUICK,
        )
    assert stages == []
