"""Leela Zero weights as an ONNX file with its ModelSpec inside."""

from __future__ import annotations

import os
from typing import Any

from pyengine.base.arguments import check_type
from pyengine.base.extras import need
from pyengine.base.files import path_of
from pyengine.conversion.leela import PLANES, Floats, LeelaWeights, Norm
from pyengine.conversion.onnx_graph import FLOAT, GraphBuilder, save_model
from pyengine.errors import EngineError, ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec
from pyengine.games.game import load_game

_OPSET = 17
_IR_VERSION = 8  # ONNX Runtime 1.20 and older read it


def leela_spec(weights: LeelaWeights) -> ModelSpec:
    """Return how the network reads a Go position: 18 planes, the bottom row first.

    Raises ModelError if the engine has no Go board of that size.
    """
    check_type("weights", weights, LeelaWeights, "LeelaWeights")
    size = weights.board_size
    try:
        game = load_game("go", board_size=size)
    except EngineError as error:
        raise ModelError(f"the weights are for a {size}x{size} board: {error}") from error
    value_for = "first_player" if weights.version == 2 else "mover"
    return ModelSpec.leela_zero(game).replace(value_for=value_for)


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

    def tensor(name: str, *shape: int) -> Any:
        return onnx.helper.make_tensor_value_info(name, FLOAT, ["N", *shape])

    graph = onnx.GraphProto(
        name="leela_zero",
        input=[tensor("planes", PLANES, size, size)],
        output=[tensor("policy", size * size + 1), tensor("value", 1)],
    )
    _Layers(graph).add_network(weights)
    opset = onnx.helper.make_opsetid("", _OPSET)
    model = onnx.helper.make_model(graph, producer_name="pyengine", opset_imports=[opset])
    model.ir_version = _IR_VERSION
    onnx.helper.set_model_props(model, {METADATA_KEY: spec.to_json()})
    onnx.checker.check_model(model)
    save_model(model, path_of("path", path))
    return spec


class _Layers(GraphBuilder):
    """A graph to which whole layers are added; each returns the name of its output."""

    def add_network(self, weights: LeelaWeights) -> None:
        x = self.relu(self.conv("planes", weights.stem, "stem.conv"), "stem")
        for number, (first, second) in enumerate(weights.blocks):
            name = f"block{number}"
            inner = self.relu(self.conv(x, first, f"{name}.first.conv"), f"{name}.first")
            inner = self.conv(inner, second, f"{name}.second.conv")
            x = self.relu(self.node("Add", inner, x, output=f"{name}.sum"), name)
        moves = self.relu(self.conv(x, weights.policy, "policy.conv"), "policy.planes")
        moves = self.node("Flatten", moves, output="policy.flat")
        self.linear(moves, weights.policy_out, "policy")
        value = self.relu(self.conv(x, weights.value, "value.conv"), "value.planes")
        value = self.node("Flatten", value, output="value.flat")
        value = self.relu(self.linear(value, weights.value_hidden, "value.sum"), "value.hidden")
        self.node("Tanh", self.linear(value, weights.value_out, "value.raw"), output="value")

    def conv(self, x: str, norm: Norm, output: str) -> str:
        """The convolution with its normalisation folded in; keeps the board's shape."""
        kernel, bias = norm.folded()
        size = kernel.shape[-1]
        names = self.weight(kernel, f"{output}.w"), self.weight(bias, f"{output}.b")
        pads = [size // 2] * 4
        return self.node("Conv", x, *names, output=output, kernel_shape=[size, size], pads=pads)

    def relu(self, x: str, output: str) -> str:
        return self.node("Relu", x, output=output)

    def linear(self, x: str, layer: tuple[Floats, Floats], output: str) -> str:
        names = [self.weight(t, f"{output}.{part}") for part, t in zip("wb", layer, strict=True)]
        return self.node("Gemm", x, *names, output=output, transB=1)
