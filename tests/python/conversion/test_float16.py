"""Conversion to float16: the converted layers and the checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pyengine
from converted import (
    ANYTHING,
    GAME,
    QUICK,
    changed,
    graph_of,
    opened,
    scale,
    spec_of,
    weights_as_inputs,
)
from pyengine.conversion import ConversionReport, Limits, to_float16
from pyengine.conversion.float16 import (
    check_no_branches,
    float32_nodes,
    half_tensors,
    range_check,
    rounded,
    to_half,
)
from pyengine.conversion.onnx_graph import FLOAT, HALF, INT8, batches
from pyengine.errors import EvaluationError, ModelError
from pyengine.eval.bundled import game_of_model
from third_party_networks import NETWORKS
from tiny_models import TinyModel

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")

TIGHT = Limits(
    policy_mean=0.003, policy_99=0.01, value_mean=0.003, agreement=0.96, regret=1e-4, turned=0
)  # about three times the measured figures


def scaled(network: Path, path: Path, factor: float) -> Path:
    """Write an equivalent network whose first block is scaled inside by a factor."""
    factors = {"block0.first.conv.w": factor, "block0.first.conv.b": factor}
    factors["block0.second.conv.w"] = 1 / factor
    return changed(network, path, lambda model: scale(model, factors))


# --- networks that pass --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["go7", "gomoku17", "connect4_sunshine", "tictactoe_skyzero"])
def test_a_trained_network_passes(shared: Callable[..., Path], tmp_path: Path, name: str) -> None:
    source, game, spec = pyengine.bundled_models().get(name), game_of_model(name), None
    if source is None:
        source = shared("nets", f"{name}.onnx")
        game, spec = NETWORKS[name].game, NETWORKS[name].spec
    out = tmp_path / "out.onnx"
    report = to_float16(source, out, game, spec=spec, limits=TIGHT, **QUICK)
    assert report.passed, report.checks
    assert out.stat().st_size < 0.65 * source.stat().st_size


# --- the graph -----------------------------------------------------------------------------------


def test_the_tower_is_float16_but_not_matrices_and_outputs(float16: ConversionReport) -> None:
    assert (float16.converted, float16.kept) == (9, 3)
    model = onnx.load(float16.path)
    onnx.checker.check_model(model, full_check=True)
    assert [entry.type.tensor_type.elem_type for entry in model.graph.input] == [INT8]
    assert [entry.type.tensor_type.elem_type for entry in model.graph.output] == [FLOAT, FLOAT]
    assert [entry.name for entry in model.graph.input] == ["planes"]
    assert [entry.name for entry in model.graph.output] == ["policy", "value"]
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            expected = HALF if node.op_type == "Conv" else FLOAT
            assert {types[name] for name in node.input if name in types} == {expected}, node.name
    casts = [node for node in model.graph.node if node.op_type == "Cast"]
    assert len(casts) == 3  # the input and two heads


def test_a_batch_larger_than_the_sample_repeats_positions() -> None:
    planes = np.arange(3, dtype=np.float32).reshape(3, 1, 1, 1)
    (batch,) = batches(planes, (8, 1, 1, 1))
    assert batch.ravel().tolist() == [0, 1, 2, 0, 1, 2, 0, 1]


def test_weights_that_are_also_inputs_become_plain_weights(network: Path, tmp_path: Path) -> None:
    source = changed(network, tmp_path / "in.onnx", weights_as_inputs)
    report = to_float16(source, tmp_path / "out.onnx", GAME, limits=TIGHT, **QUICK)
    assert (report.passed, report.converted) == (True, 9)
    assert [entry.name for entry in onnx.load(tmp_path / "out.onnx").graph.input] == ["planes"]


TWO_OUTPUTS = ["policy", "value"]


def test_sums_over_the_board_and_nodes_between_them_stay_in_float32() -> None:
    nodes = [
        ("Conv", ["planes", "w"], "stem"),
        ("GlobalAveragePool", ["stem"], "mean"),
        ("Add", ["mean", "w"], "epsilon"),
        ("Sqrt", ["epsilon"], "deviation"),
        ("Div", ["stem", "deviation"], "normal"),
        ("Conv", ["normal", "w"], "tower"),
        ("Conv", ["tower", "w"], "policy"),
        ("Conv", ["tower", "w"], "value.raw"),
        ("Tanh", ["value.raw"], "value"),
    ]
    model = graph_of(nodes, TWO_OUTPUTS)
    wide = float32_nodes(model)
    assert wide == {"mean", "epsilon", "deviation", "policy", "value.raw", "value"}
    half = ["planes", "stem", "deviation", "normal", "tower"]
    assert half_tensors(model, wide) == (["w"], half)


def test_a_weight_of_both_types_is_stored_twice_and_each_tensor_is_cast_once() -> None:
    nodes = [("Conv", ["planes", "w"], "tower"), ("Conv", ["tower", "w"], "policy"),
             ("Conv", ["tower", "w"], "value")]  # fmt: skip
    model = graph_of(nodes, TWO_OUTPUTS)
    assert to_half(model, float32_nodes(model)) == {"planes", "tower.float16"}
    onnx.checker.check_model(model, full_check=True)
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    assert kinds == {"w": FLOAT, "w.float16": HALF}
    assert [node.op_type for node in model.graph.node] == ["Conv", "Cast", "Conv", "Conv"]


def test_an_int8_input_is_cast_to_both_types() -> None:
    nodes = [("Conv", ["planes", "w"], "tower"), ("Conv", ["tower", "w"], "policy"),
             ("ReduceMean", ["planes"], "mean"), ("Conv", ["mean", "w"], "value")]  # fmt: skip
    model = graph_of(nodes, TWO_OUTPUTS)
    half = to_half(model, float32_nodes(model), INT8)
    assert half == {"planes.float16", "tower.float16"}
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.input[0].type.tensor_type.elem_type == INT8
    rounded(model, half)
    onnx.checker.check_model(model, full_check=True)


# --- the checks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "name", "limit", "most"),
    [(1e6, "weight, max", 65504, 1e7), (4e4, "activation, max", 32752, 1e7)],
)
def test_numbers_beyond_float16_fail(
    network: Path, tmp_path: Path, factor: float, name: str, limit: float, most: float
) -> None:
    source, out = scaled(network, tmp_path / "in.onnx", factor), tmp_path / "out.onnx"
    out.write_text("an older file")
    report = to_float16(source, out, GAME, limits=ANYTHING, **QUICK)
    assert (report.outcome, report.path, report.comparison) == ("failed", None, None)
    check = next(check for check in report.checks if not check.passed)
    assert (check.name, check.limit) == (name, limit)
    assert limit < check.measured < most
    assert "block0.first" in check.detail
    assert out.read_text() == "an older file"
    assert report.to_dict()["comparison"] is None


def test_nan_fails_in_any_position() -> None:
    for largest in ({"a": 1.0, "b": float("nan")}, {"b": float("nan"), "a": 1.0}):
        check = range_check("weight, max", largest, 65504.0)
        assert (check.outcome, "tensor b" in check.detail) == ("failed", True)


def test_the_compared_network_rounds_if_the_cpu_does_not(network: Path, tmp_path: Path) -> None:
    source, spec = scaled(network, tmp_path / "in.onnx", 4e4), spec_of(network)
    model = onnx.shape_inference.infer_shapes(onnx.load(source))
    half = to_half(model, float32_nodes(model))
    onnx.save(model, tmp_path / "half.onnx")
    rounded(model, half)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, tmp_path / "rounded.onnx")
    state = pyengine.load_game(GAME).new_initial_state([3, 7, 12])
    direct, rounding = (opened(tmp_path / f"{name}.onnx", spec) for name in ("half", "rounded"))
    direct.evaluate([state])  # no error: the CPU computes the convolutions in float32
    with pytest.raises(EvaluationError):
        rounding.evaluate([state])


# --- refusals ------------------------------------------------------------------------------------


def test_a_network_without_layers_to_convert_is_refused(tmp_path: Path) -> None:
    source = TinyModel().write(tmp_path / "in.onnx")
    with pytest.raises(ModelError, match="but all 2 must stay in float32"):
        to_float16(source, tmp_path / "out.onnx", "tic_tac_toe", spec=pyengine.ModelSpec(), **QUICK)


def test_a_network_with_branches_is_refused() -> None:
    model = graph_of([("Relu", ["planes"], "policy")], ["policy"])
    check_no_branches(model, Path("net.onnx"))
    branch = onnx.helper.make_node("If", ["w"], ["more"], then_branch=model.graph)
    model.graph.node.append(branch)
    with pytest.raises(ModelError, match="without branches or loops, got If"):
        check_no_branches(model, Path("net.onnx"))
