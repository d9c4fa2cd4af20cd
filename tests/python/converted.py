"""Limits and changed models for the tests of conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import ModelSpec, OnnxEvaluator
from pyengine.conversion import Limits

GAME = "go(board_size=5)"
NOTHING = Limits(  # no conversion passes
    policy_mean=0, policy_99=0, value_mean=0, agreement=1.1, regret=-1, turned=0
)
ANYTHING = Limits(policy_mean=1, policy_99=1, value_mean=2, agreement=0, regret=1)
QUICK: dict[str, Any] = {"positions": 32, "games": 0}


def changed(network: Path, path: Path, change: Callable[[Any], object]) -> Path:
    """Write a changed copy of a model."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    model = onnx.load(network)
    change(model)
    onnx.save(model, path)
    return path


def opened(path: Path | None, spec: ModelSpec | None = None) -> OnnxEvaluator:
    """Open a network on the CPU."""
    assert path is not None
    return OnnxEvaluator(path, spec, providers=["cpu"])


def spec_of(path: Path | None) -> ModelSpec:
    """Return the spec of a network."""
    spec = opened(path).spec
    assert spec is not None
    return spec


def fix_batch(model: Any) -> None:
    """Fix the batch of a model to 4 rows."""
    for entry in (*model.graph.input, *model.graph.output):
        entry.type.tensor_type.shape.dim[0].dim_value = 4


def weights_as_inputs(model: Any) -> None:
    """List the weights as inputs, as ONNX before IR version 4."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    for tensor in model.graph.initializer:
        value = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        model.graph.input.append(value)


def scale(model: Any, factors: dict[str, float]) -> None:
    """Multiply weights by factors."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    for tensor in model.graph.initializer:
        if tensor.name in factors:
            array = onnx.numpy_helper.to_array(tensor) * np.float32(factors[tensor.name])
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def add_final_board(model: Any) -> None:
    """Add an ownership and a score to a Leela Zero network for Go 5x5."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    helper, rng = onnx.helper, np.random.default_rng(1)
    for name, width, last in (("own", 25, "Tanh"), ("score", 1, "Identity")):
        weight = rng.normal(0, 0.1, (50, width)).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, f"{name}.w"))
        raw = [f"{name}.raw"]
        model.graph.node.extend(
            [
                helper.make_node("MatMul", ["policy.flat", f"{name}.w"], raw, name=raw[0]),
                helper.make_node(last, raw, [name], name=name),
            ]
        )
        model.graph.output.append(helper.make_tensor_value_info(name, 1, ["N", width]))
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    spec = ModelSpec.from_json(metadata["pyengine.spec"])
    metadata["pyengine.spec"] = spec.replace(ownership_output="own", score_output="score").to_json()
    helper.set_model_props(model, metadata)


def graph_of(
    nodes: Sequence[tuple[str, list[str], str]], outputs: Sequence[str], *constants: str
) -> Any:
    """Return a model of nodes (operator, inputs, output) that are named after their outputs.

    It reads planes of 4x3x3; the weights are "w" and the named constants.
    """
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    value, number = onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array
    weights = [number(np.ones((4, 4, 1, 1), np.float32), name) for name in ("w", *constants)]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(kind, inputs, [out], name=out) for kind, inputs, out in nodes],
        "test",
        [value("planes", 1, ["N", 4, 3, 3])],
        [value(name, 1, None) for name in outputs],
        weights,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    return onnx.shape_inference.infer_shapes(model)
