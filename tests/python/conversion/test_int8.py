"""Conversion to int8: the quantised layers and the checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from converted import GAME, QUICK, graph_of
from pyengine.conversion import ConversionReport, Limits, leela_to_onnx, quantise, random_leela
from pyengine.conversion.int8 import float_nodes
from pyengine.errors import ModelError
from third_party_networks import NETWORKS

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")


def test_the_tower_is_int8_but_not_stem_sums_and_heads(
    network: Path, int8: ConversionReport
) -> None:
    assert (int8.converted, int8.kept) == (6, 3)
    assert int8.speedup is not None
    graph = onnx.load(int8.path).graph
    assert list(graph.input) == list(onnx.load(network).graph.input)
    made_by = {name: node for node in graph.node for name in node.output}
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    scales = {tensor.name: tensor.dims for tensor in graph.initializer}
    for node in graph.node:
        source = made_by.get(node.input[0])
        if node.op_type == "Conv" and source is not None:
            tower = node.name.startswith("block")
            assert (source.op_type == "DequantizeLinear") == tower, node.name
            if tower:
                weight = made_by[node.input[1]]
                assert types[source.input[2]] == onnx.TensorProto.UINT8
                assert types[weight.input[0]] == onnx.TensorProto.INT8
                assert list(scales[weight.input[1]]) == [16]  # one per channel
        if node.op_type == "Gemm":
            assert source is not None
            assert source.op_type != "DequantizeLinear", node.name


def test_a_network_without_a_tower_is_refused(tmp_path: Path) -> None:
    leela_to_onnx(random_leela(0, 8, board_size=5), tmp_path / "in.onnx")
    with pytest.raises(ModelError, match="expected convolutions between the first one"):
        quantise(tmp_path / "in.onnx", tmp_path / "out.onnx", GAME, **QUICK)
    assert not (tmp_path / "out.onnx").exists()


def test_a_shortcut_of_the_planes_adds_no_first_layer() -> None:
    """Pre-activation networks may add the planes to the output of the first block."""
    nodes = [
        ("Conv", ["planes", "w"], "first"),
        ("Conv", ["first", "w"], "second"),
        ("Pad", ["planes", "pads"], "pad"),
        ("Add", ["second", "pad"], "sum"),
        ("Conv", ["sum", "w"], "third"),
        ("Conv", ["third", "w"], "policy"),
        ("Conv", ["third", "w"], "value"),
    ]
    kept = float_nodes(graph_of(nodes, ["policy", "value"], "pads"))
    assert kept == {"first", "policy", "value"}


@pytest.mark.parametrize(("name", "converted"), [("othello8x8_ludax", 8), ("gomoku8x8_5", 2)])
def test_a_trained_network_passes_the_checks(
    shared: Callable[..., Path], tmp_path: Path, name: str, converted: int
) -> None:
    source, out, others = shared("nets", f"{name}.onnx"), tmp_path / "out.onnx", NETWORKS[name]
    strict = Limits(turned=0)
    report = quantise(source, out, others.game, spec=others.spec, limits=strict, **QUICK)
    assert report.passed, report.checks
    assert report.converted == converted
    assert out.stat().st_size < source.stat().st_size
