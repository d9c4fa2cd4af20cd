"""Leela Zero weights as an ONNX file with its ModelSpec inside."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_type
from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing
from pyengine.conversion.leela import PLANES, LeelaWeights, Norm
from pyengine.errors import EngineError, ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec
from pyengine.games.game import load_game

__all__ = ["leela_spec", "leela_to_onnx", "save_model"]

_OPSET = 17
_IR_VERSION = 8  # ONNX Runtime 1.20 and older read it


def leela_spec(weights: LeelaWeights) -> ModelSpec:
    """Return how the network reads a Go position: 18 planes, the bottom row first.

    Raises ModelError when the engine has no Go board of that size.
    """
    check_type("weights", weights, LeelaWeights, "LeelaWeights")
    size = weights.board_size
    try:
        game = load_game("go", board_size=size)
    except EngineError as error:
        raise ModelError(f"the weights are for a {size}x{size} board: {error}") from error
    value_for = "first_player" if weights.version == 2 else "mover"
    return replace(ModelSpec.leela_zero(game), value_for=value_for)


class _Graph:
    """Nodes and weights as they are added; a tensor is known by its name."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        make = self._onnx.helper.make_node
        self.nodes.append(make(kind, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, values: npt.NDArray[np.float32]) -> str:
        self.weights.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def conv(self, x: str, norm: Norm, output: str) -> str:
        """The convolution with its normalisation folded in; keeps the board's shape."""
        kernel, bias = norm.folded()
        size = kernel.shape[-1]
        inputs = [x, self.weight(f"{output}.w", kernel), self.weight(f"{output}.b", bias)]
        pads = [size // 2] * 4
        return self.add("Conv", inputs, output, kernel_shape=[size, size], pads=pads)

    def relu(self, x: str, output: str) -> str:
        return self.add("Relu", [x], output)

    def linear(
        self, x: str, layer: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]], output: str
    ) -> str:
        names = [self.weight(f"{output}.{part}", t) for part, t in zip("wb", layer, strict=True)]
        return self.add("Gemm", [x, *names], output, transB=1)


def _fill(graph: _Graph, weights: LeelaWeights) -> None:
    x = graph.relu(graph.conv("planes", weights.stem, "stem.conv"), "stem")
    for number, (first, second) in enumerate(weights.blocks):
        name = f"block{number}"
        inner = graph.relu(graph.conv(x, first, f"{name}.first.conv"), f"{name}.first")
        inner = graph.conv(inner, second, f"{name}.second.conv")
        x = graph.relu(graph.add("Add", [inner, x], f"{name}.sum"), name)
    moves = graph.relu(graph.conv(x, weights.policy, "policy.conv"), "policy.planes")
    moves = graph.add("Flatten", [moves], "policy.flat")
    graph.linear(moves, weights.policy_out, "policy")
    value = graph.relu(graph.conv(x, weights.value, "value.conv"), "value.planes")
    value = graph.add("Flatten", [value], "value.flat")
    value = graph.relu(graph.linear(value, weights.value_hidden, "value.sum"), "value.hidden")
    graph.add("Tanh", [graph.linear(value, weights.value_out, "value.raw")], "value")


def leela_to_onnx(weights: LeelaWeights, path: str | os.PathLike[str]) -> ModelSpec:
    """Write ``planes`` [N,18,S,S] to ``policy`` logits [N,A] and ``value`` [N,1], and the spec.

    Batch normalisation is folded into the convolutions; float32; the batch is free. Returns the
    spec, which the file holds under the metadata key ``pyengine.spec``.

    Raises:
        EngineError: the package onnx is absent.
        ModelError: no Go board has that size.
        DataError: the file cannot be written.

    """
    onnx = need("onnx", "convert")
    spec, size = leela_spec(weights), weights.board_size
    graph = _Graph(onnx)
    _fill(graph, weights)

    def tensor(name: str, *shape: int) -> Any:
        kind = onnx.TensorProto.FLOAT
        return onnx.helper.make_tensor_value_info(name, kind, ["N", *shape])

    proto = onnx.helper.make_graph(
        graph.nodes,
        "leela_zero",
        [tensor("planes", PLANES, size, size)],
        [tensor("policy", size * size + 1), tensor("value", 1)],
        graph.weights,
    )
    opset = onnx.helper.make_opsetid("", _OPSET)
    model = onnx.helper.make_model(proto, producer_name="pyengine", opset_imports=[opset])
    model.ir_version = _IR_VERSION
    onnx.helper.set_model_props(model, {METADATA_KEY: spec.to_json()})
    onnx.checker.check_model(model)
    save_model(model, path_of("path", path))
    return spec


def save_model(model: Any, file: Path) -> None:
    """Write a model; the file appears whole or not at all. Raises DataError."""
    with replacing(file) as temporary:
        temporary.write_bytes(model.SerializeToString())
