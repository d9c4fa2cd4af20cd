"""A trained network as an ONNX file with its spec inside.

The graph is written node by node with batch normalisation folded into the convolutions: half the
nodes to run, and no exporter whose output changes from version to version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from network import Network
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import pyengine
from pyengine.spec import METADATA_KEY

OPSET = 17
TOLERANCE = 1e-4  # between PyTorch and ONNX Runtime


class _Graph:
    """Nodes and weights as they are added; a tensor is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, tensor: npt.NDArray[np.float32]) -> str:
        self.weights.append(numpy_helper.from_array(tensor, name))
        return name

    def conv(self, x: str, layer: nn.Module, output: str) -> str:
        kernel, bias = folded(layer)
        pad = kernel.shape[-1] // 2
        inputs = [x, self.weight(f"{output}.w", kernel), self.weight(f"{output}.b", bias)]
        return self.add("Conv", inputs, output, pads=[pad] * 4, kernel_shape=kernel.shape[-2:])

    def conv_relu(self, x: str, layer: nn.Module, output: str) -> str:
        return self.add("Relu", [self.conv(x, layer, f"{output}.conv")], output)

    def linear(self, x: str, layer: nn.Linear, output: str) -> str:
        inputs = [
            x,
            self.weight(f"{output}.w", layer.weight.detach().numpy()),
            self.weight(f"{output}.b", layer.bias.detach().numpy()),
        ]
        return self.add("Gemm", inputs, output, transB=1)


def folded(layer: nn.Module) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return kernel and bias of a convolution, with the normalisation after it taken in."""
    if isinstance(layer, nn.Conv2d):
        return layer.weight.detach().numpy(), layer.bias.detach().numpy()
    conv, norm = layer
    with torch.no_grad():
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        kernel = conv.weight * scale[:, None, None, None]
        return kernel.numpy(), (norm.bias - norm.running_mean * scale).numpy()


def build(network: Network, spec: pyengine.ModelSpec) -> onnx.ModelProto:
    """Return the model: ``planes`` [N,C,H,W] to ``policy`` logits [N,A] and ``value`` [N,1]."""
    graph = _Graph()
    x = graph.conv_relu("planes", network.stem, "stem")
    for number, block in enumerate(network.blocks):
        inner = graph.conv_relu(x, block.first, f"block{number}.first")
        inner = graph.conv(inner, block.second, f"block{number}.second")
        inner = graph.add("Add", [inner, x], f"block{number}.sum")
        x = graph.add("Relu", [inner], f"block{number}")
    moves = graph.conv_relu(x, network.policy_conv, "policy.hidden")
    if isinstance(network.policy_out, nn.Linear):
        moves = graph.add("Flatten", [moves], "policy.flat")
        actions = network.policy_out.out_features
        graph.linear(moves, network.policy_out, "policy")
    else:
        moves = graph.conv(moves, network.policy_out, "policy.board")
        actions = network.board[0] * network.board[1]
        graph.add("Flatten", [moves], "policy")
    judged = graph.conv_relu(x, network.value_conv, "value.board")
    judged = graph.add("Flatten", [judged], "value.flat")
    judged = graph.linear(judged, network.value_hidden, "value.sum")
    judged = graph.add("Relu", [judged], "value.hidden")
    judged = graph.linear(judged, network.value_out, "value.raw")
    graph.add("Tanh", [judged], "value")
    return _model(graph, network, actions, spec)


def _model(
    graph: _Graph, network: Network, actions: int, spec: pyengine.ModelSpec
) -> onnx.ModelProto:
    def tensor(name: str, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])

    proto = helper.make_graph(
        graph.nodes,
        "pyengine",
        [tensor("planes", network.planes, *network.board)],
        [tensor("policy", actions), tensor("value", 1)],
        graph.weights,
    )
    model = helper.make_model(
        proto, producer_name="pyengine", opset_imports=[helper.make_opsetid("", OPSET)]
    )
    model.ir_version = 8  # ONNX Runtime 1.20 and older read it
    helper.set_model_props(model, {METADATA_KEY: spec.to_json()})
    onnx.checker.check_model(model)
    return model


def export(network: Network, game: pyengine.Game, spec: pyengine.ModelSpec, path: Path) -> float:
    """Write the file; return the largest difference to PyTorch over random positions.

    Raises RuntimeError, and leaves an older file alone, when that is above the tolerance.
    """
    part = path.with_suffix(".part.onnx")
    part.write_bytes(build(network, spec).SerializeToString())
    worst = difference(network, game, spec, part)
    if not worst < TOLERANCE:
        raise RuntimeError(f"{part} differs from PyTorch by {worst:.2e}")
    part.replace(path)
    return worst


def difference(
    network: Network, game: pyengine.Game, spec: pyengine.ModelSpec, path: Path
) -> float:
    """Return the largest difference of a probability or value between file and PyTorch."""
    rng = np.random.default_rng(0)
    states = []
    while len(states) < 200:
        state = game.new_initial_state()
        while not state.is_terminal():
            states.append(state.clone())
            state.apply_action(int(rng.choice(state.legal_actions())))
    policy, value = pyengine.OnnxEvaluator(path, providers=["CPUExecutionProvider"]).evaluate(
        states
    )
    planes = np.stack([state.observation_tensor(spec) for state in states])
    with torch.no_grad():
        logits, judged = network.eval()(torch.from_numpy(planes))
    legal = np.zeros(policy.shape, bool)
    for row, state in zip(legal, states, strict=True):
        row[state.legal_actions()] = True
    expected = torch.softmax(logits.masked_fill(~torch.from_numpy(legal), -torch.inf), 1).numpy()
    return float(max(np.abs(policy - expected).max(), np.abs(value - judged[:, 0].numpy()).max()))
