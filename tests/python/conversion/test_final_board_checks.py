"""Conversions of networks that predict the final board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyengine
from converted import ANYTHING, GAME, QUICK, changed, scale
from pyengine.conversion import quantise
from pyengine.conversion.comparison import Limits, compare
from pyengine.train.loop import int8_copy

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")

STATES = [pyengine.load_game(GAME).new_initial_state([n]) for n in range(25)]


def opened(path: Path, spec: pyengine.ModelSpec | None = None) -> pyengine.OnnxEvaluator:
    return pyengine.OnnxEvaluator(path, spec, providers=["cpu"])


def spec_of(path: Path) -> pyengine.ModelSpec:
    spec = opened(path).spec
    assert spec is not None
    return spec


def test_a_conversion_compares_ownership_and_score(
    tmp_path: Path, final_board_network: Path
) -> None:
    limits = replace(ANYTHING, ownership_mean=1.0, score_mean=20.0)
    report = quantise(final_board_network, tmp_path / "out.onnx", GAME, limits=limits, **QUICK)
    names = [check.name for check in report.checks]
    assert names[-2:] == ["ownership, mean", "score, mean"]
    assert report.comparison is not None
    assert 0 < (report.comparison.ownership_mean or 0) < 0.1
    assert 0 < (report.comparison.score_mean or 0) < 2
    strict = replace(limits, ownership_mean=0.0, score_mean=0.0)
    failed = [check.name for check in report.comparison.checks(strict) if not check.passed]
    assert failed == ["ownership, mean", "score, mean"]


def test_a_change_under_symmetries_allows_no_other_ownership(
    tmp_path: Path, final_board_network: Path
) -> None:
    path = changed(final_board_network, tmp_path / "n.onnx", lambda m: scale(m, {"own.w": -1}))
    one, other = opened(final_board_network), opened(path)
    assert compare(one, one, STATES).ownership_mean == 0
    difference = compare(one, other, STATES)
    checks = {check.name: check for check in difference.checks(Limits(turned=1.0), difference)}
    assert not checks["ownership, mean"].passed


def test_outputs_that_one_network_lacks_are_not_compared(final_board_network: Path) -> None:
    plain = opened(final_board_network, spec_of(final_board_network).without_final_board())
    comparison = compare(opened(final_board_network), plain, STATES)
    assert (comparison.ownership_mean, comparison.score_mean) == (None, None)


def test_the_int8_copy_of_training_has_only_policy_and_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, final_board_network: Path
) -> None:
    pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
    monkeypatch.setattr(int8_copy, "_LIMITS", vars(ANYTHING))  # random networks agree on no move
    spec = spec_of(final_board_network)
    planes = [np.stack([state.observation_tensor(spec) for state in STATES])]
    copy = tmp_path / "copy.onnx"
    assert int8_copy.write_copy(final_board_network, copy, planes, [STATES[0].game]) is None
    assert not opened(copy).has_final_board
    graph = onnx.load(copy).graph
    assert [output.name for output in graph.output] == ["policy", "value"]
    assert not [node.name for node in graph.node if node.name.startswith(("own", "score"))]


def test_an_output_that_is_not_an_ownership_is_refused_before_any_game(
    tmp_path: Path, final_board_network: Path
) -> None:
    source = changed(
        final_board_network, tmp_path / "in.onnx", lambda model: scale(model, {"score.w": 1e6})
    )
    spec = spec_of(source).replace(ownership_output="score", score_output=None)
    stages: list[str] = []
    with pytest.raises(pyengine.EvaluationError, match="expected a final board"):
        quantise(
            source, tmp_path / "out.onnx", GAME, spec=spec,
            on_progress=lambda stage, _: stages.append(stage), **QUICK,
        )  # fmt: skip
    assert stages == []
