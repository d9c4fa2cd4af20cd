"""Builds the ONNX graph of a trained network, node by node.

Batch normalisation is folded into the convolutions, which halves the number of nodes and does not
depend on an exporter whose output changes between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx  # noqa: TID253  # imported only where the extra is needed
import torch  # noqa: TID253
from onnx import TensorProto, helper, numpy_helper  # noqa: TID253
from torch import nn  # noqa: TID253

from pyengine.train.blocks import (
    SCALE_MIDDLE,
    SCALE_STEP,
    BiasedConv,
    BoardBias,
    Branch,
    ConvNorm,
    Excitation,
)
from pyengine.train.heads import (
    SCORE_SCALE,
    AuxiliaryHeads,
    FlatPolicy,
    PooledPolicy,
    ZeroPolicy,
)
from pyengine.train.network import Network
from pyengine.train.towers import NestedBranch, ScaledTower, Tower

OPSET = 17
IR_VERSION = 8  # readable by ONNX Runtime 1.20 and older

Floats = npt.NDArray[np.float32]


def folded(layer: nn.Module) -> tuple[Floats, Floats]:
    """Return kernel [O,I,h,w] and bias [O] of a convolution with folded normalisation, if any."""
    if isinstance(layer, BiasedConv):
        assert layer.bias is not None
        return _array(layer.weight), _array(layer.bias)
    assert isinstance(layer, ConvNorm)
    conv, norm = layer
    scale, bias = _affine(norm)
    return _array(conv.weight.double() * scale[:, None, None, None]), _array(bias)


def _affine(norm: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scale and bias [F] of a normalisation with fixed statistics, in double precision."""
    with torch.no_grad():
        scale = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).double()
        return scale, norm.bias.double() - norm.running_mean.double() * scale


def _array(tensor: torch.Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), np.float32)


class _Graph:
    """Collects nodes and weights; tensors are referred to by name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.shared: dict[str, str] = {}

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, array: npt.NDArray[Any]) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def conv(self, x: str, kernel: Floats, bias: Floats, output: str) -> str:
        inputs = [x, self.weight(f"{output}.w", kernel), self.weight(f"{output}.b", bias)]
        pads = [kernel.shape[-1] // 2] * 4
        return self.add("Conv", inputs, output, pads=pads, kernel_shape=kernel.shape[-2:])

    def conv_norm(self, x: str, layer: nn.Module, output: str, scale: float = 1.0) -> str:
        """Apply a layer to the scaled input."""
        kernel, bias = folded(layer)
        return self.conv(x, kernel * np.float32(scale), bias, output)

    def conv_relu(self, x: str, layer: nn.Module, output: str, scale: float = 1.0) -> str:
        return self.relu(self.conv_norm(x, layer, f"{output}.conv", scale), output)

    def relu(self, x: str, output: str) -> str:
        return self.add("Relu", [x], output)

    def once(self, name: str, make: Callable[[_Graph], str]) -> str:
        """Return a tensor shared by several nodes, created on first use."""
        if name not in self.shared:
            self.shared[name] = make(self)
        return self.shared[name]

    def on_points(self, x: str, output: str) -> str:
        """Reshape [N,F] to [N,F,1,1]."""
        axes = self.once("axes", lambda graph: graph.weight("axes", np.array([2, 3], np.int64)))
        return self.add("Unsqueeze", [x, axes], output)

    def linear(self, x: str, layer: nn.Linear, output: str) -> str:
        weight, bias = _array(layer.weight), _array(layer.bias)
        inputs = [x, self.weight(f"{output}.w", weight), self.weight(f"{output}.b", bias)]
        return self.add("Gemm", inputs, output, transB=1)


def model_of(
    network: Network,
    metadata: Mapping[str, str],
    board: tuple[int, int] | None,
    *,
    final_board: bool = False,
) -> onnx.ModelProto:
    """Return the model: ``planes`` [N,C,H,W] to ``policy`` [N,A] and ``value`` [N,1 or 3].

    Args:
        network: exported in evaluation mode.
        metadata: strings by key.
        board: H and W; None, for a convolutional network: free.
        final_board: whether to output ``ownership`` [N,H,W] and ``score`` [N], if the network has
            these heads.

    """
    graph = _Graph()
    x = _features(graph, network)
    policy, value = network.heads.parts
    is_scalar = network.config.value == "scalar"
    if isinstance(policy, FlatPolicy):
        _flat_policy(graph, policy, x)
    elif isinstance(policy, PooledPolicy):
        _pooled_policy(graph, policy, x)
    _value(graph, value, x, "value", "value.raw" if is_scalar else "value")
    if isinstance(policy, ZeroPolicy):
        _zero_policy(graph, policy)
    if is_scalar:
        graph.add("Tanh", ["value.raw"], "value")
    height, width = board or ("H", "W")
    final_outputs = []
    if final_board and network.auxiliary is not None:
        sides = {"ownership": (height, width), "score": ()}
        names = _final_board(graph, network.auxiliary, x)
        final_outputs = [_tensor(name, *sides[name]) for name in names]
    actions = network.actions if board == network.board else "A"
    proto = helper.make_graph(
        graph.nodes,
        "pyengine",
        [_tensor("planes", network.planes, height, width)],
        [_tensor("policy", actions), _tensor("value", 1 if is_scalar else 3), *final_outputs],
        graph.weights,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(proto, producer_name="pyengine", opset_imports=opsets)
    model.ir_version = IR_VERSION
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model)
    return model


def _tensor(name: str, *shape: int | str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])


def _features(graph: _Graph, network: Network) -> str:
    x = graph.conv_norm("planes", network.stem, "stem.conv")
    x, scale = _tower(graph, network.tower, x, "stem", "block")
    if scale == 1:
        return x
    factor = graph.weight("tower.scale", np.array(scale, np.float32))
    return graph.add("Mul", [x, factor], "tower")


def _tower(
    graph: _Graph, tower: Tower | ScaledTower, x: str, entry: str, prefix: str
) -> tuple[str, float]:
    """Add a tower; return its output and the scale that the next layer must apply to it.

    Args:
        graph: to be extended.
        tower: its blocks are named ``prefix`` and a number.
        x: the output of a convolution.
        entry: the name of that output, rectified.
        prefix: see ``tower``.

    """
    if isinstance(tower, Tower):
        x = graph.relu(x, entry)
        for number, branch in enumerate(tower.branches):
            name = f"{prefix}{number}"
            inner = _branch(graph, branch, x, name, 1.0)
            x = graph.relu(graph.add("Add", [inner, x], f"{name}.sum"), name)
        return x, 1.0
    *scales, last = tower.scales
    for number, (branch, scale) in enumerate(zip(tower.branches, scales, strict=True)):
        name = f"{prefix}{number}"
        inner = _branch(graph, branch, graph.relu(x, f"{name}.in"), name, scale)
        x = graph.add("Add", [inner, x], name)
    if tower.norm is None:
        return graph.relu(x, f"{prefix}s"), last
    scaled, bias = (
        graph.weight(f"{prefix}s.{part}", _array(column[:, None, None]))
        for part, column in zip(("scale", "bias"), _affine(tower.norm), strict=True)
    )
    x = graph.add("Mul", [x, scaled], f"{prefix}s.scaled")
    return graph.relu(graph.add("Add", [x, bias], f"{prefix}s.normalised"), f"{prefix}s"), 1.0


def _branch(graph: _Graph, branch: Any, x: str, name: str, scale: float) -> str:
    if isinstance(branch, NestedBranch):
        return _nested_branch(graph, branch, x, name, scale)
    assert isinstance(branch, Branch)
    inner = graph.conv_norm(x, branch.first, f"{name}.first.conv", scale)
    if branch.board_bias is not None:
        bias = _board_bias(graph, branch.board_bias, x, f"{name}.board", scale)
        inner = graph.add("Add", [inner, bias], f"{name}.first.sum")
    inner = graph.relu(inner, f"{name}.first")
    inner = graph.conv_norm(inner, branch.second, f"{name}.second")
    if branch.excitation is not None:
        inner = _excitation(graph, branch.excitation, inner, f"{name}.excitation")
    return inner


def _nested_branch(graph: _Graph, branch: NestedBranch, x: str, name: str, scale: float) -> str:
    inner = graph.conv_norm(x, branch.down, f"{name}.down.conv", scale)
    inner, last = _tower(graph, branch.tower, inner, f"{name}.down", f"{name}.inner")
    return graph.conv_norm(inner, branch.up, f"{name}.up", last)


def _board_bias(graph: _Graph, layer: BoardBias, x: str, name: str, scale: float) -> str:
    seen = _pooled(graph, graph.conv_relu(x, layer.conv, f"{name}.seen", scale), name)
    return graph.on_points(graph.linear(seen, layer.out, f"{name}.bias"), f"{name}.bias.points")


def _excitation(graph: _Graph, layer: Excitation, x: str, name: str) -> str:
    mean = graph.add("ReduceMean", [x], f"{name}.mean", axes=[2, 3], keepdims=0)
    hidden = graph.relu(graph.linear(mean, layer.hidden, f"{name}.sum"), f"{name}.hidden")
    scale = graph.add("Sigmoid", [graph.linear(hidden, layer.scale, f"{name}.raw")], f"{name}.gate")
    scaled = graph.add("Mul", [x, graph.on_points(scale, f"{name}.gate.points")], f"{name}.scaled")
    shift = graph.on_points(graph.linear(hidden, layer.shift, f"{name}.shift"), f"{name}.points")
    return graph.add("Add", [scaled, shift], name)


def _flat_policy(graph: _Graph, head: FlatPolicy, x: str) -> None:
    board = graph.conv_relu(x, head.policy_conv, "policy.board")
    graph.linear(graph.add("Flatten", [board], "policy.flat"), head.policy_out, "policy")


def _pooled_policy(graph: _Graph, head: PooledPolicy, x: str) -> None:
    pooled = _pooled(graph, graph.conv_relu(x, head.policy_pooled, "policy.seen"), "policy")
    bias = graph.linear(pooled, head.policy_bias, "policy.bias")
    bias = graph.on_points(bias, "policy.bias.board")
    board = graph.conv_norm(x, head.policy_conv, "policy.conv")
    board = graph.relu(graph.add("Add", [board, bias], "policy.sum"), "policy.hidden")
    kernel, offset = _array(head.policy_out.weight), _array(head.policy_out.bias)
    board = graph.conv(board, kernel, offset, "policy.points")
    if len(offset) > 1:
        board = graph.add("Transpose", [board], "policy.by_point", perm=[0, 2, 3, 1])
    if head.pass_out is None:
        graph.add("Flatten", [board], "policy")
    else:
        points = graph.add("Flatten", [board], "policy.flat")
        passing = graph.linear(pooled, head.pass_out, "policy.pass")
        graph.add("Concat", [points, passing], "policy", axis=1)


def _zero_policy(graph: _Graph, head: ZeroPolicy) -> None:
    """Add zeros [N,A], shaped from the input."""
    rows = graph.add("Shape", ["planes"], "policy.rows", start=0, end=1)
    sides = graph.add("Shape", ["planes"], "policy.sides", start=2, end=4)
    actions = graph.add("ReduceProd", [sides], "policy.points", axes=[0], keepdims=1)
    per_point, has_pass = head.actions
    if per_point > 1:
        factor = graph.weight("policy.per_point", np.array([per_point], np.int64))
        actions = graph.add("Mul", [actions, factor], "policy.of_points")
    if has_pass:
        one = graph.weight("policy.one", np.array([1], np.int64))
        actions = graph.add("Add", [actions, one], "policy.actions")
    shape = graph.add("Concat", [rows, actions], "policy.shape", axis=0)
    graph.add("ConstantOfShape", [shape], "policy")  # float32 0 by default


def _value(graph: _Graph, head: Any, x: str, name: str, output: str) -> str:
    """Add a :class:`ValueHead`; ``name`` is the prefix of its tensors."""
    if head.flat:
        hidden = graph.conv_relu(x, head.value_conv, f"{name}.board")
        hidden = graph.add("Flatten", [hidden], f"{name}.flat")
    else:
        hidden = _pooled(graph, graph.conv_relu(x, head.value_conv, f"{name}.seen"), name)
    hidden = graph.relu(graph.linear(hidden, head.value_hidden, f"{name}.sum"), f"{name}.hidden")
    return graph.linear(hidden, head.value_out, output)


def _final_board(graph: _Graph, heads: AuxiliaryHeads, x: str) -> list[str]:
    """Add the network's final-board outputs; return their names."""
    axis = graph.weight("final_board.axis", np.array([1], np.int64))
    names = []
    if heads.ownership is not None:
        layer = heads.ownership.out
        points = graph.conv(x, _array(layer.weight), _array(layer.bias), "ownership.conv")
        points = graph.add("Squeeze", [points, axis], "ownership.points")
        names.append(graph.add("Tanh", [points], "ownership"))
    if heads.score is not None:
        score = _value(graph, heads.score, x, "score", "score.raw")
        score = graph.add("Squeeze", [score, axis], "score.said")
        scale = graph.weight("score.scale", np.array(SCORE_SCALE, np.float32))
        names.append(graph.add("Mul", [score, scale], "score"))
    return names


def _scale(graph: _Graph) -> str:
    """Add the board's scale from the input's shape; the runtime folds it if the shape is fixed."""
    shape = graph.add("Shape", ["planes"], "scale.shape", start=2, end=4)
    points = graph.add("ReduceProd", [shape], "scale.points", axes=[0], keepdims=0)
    points = graph.add("Cast", [points], "scale.float", to=TensorProto.FLOAT)
    side = graph.add("Sqrt", [points], "scale.side")
    middle = graph.weight("scale.middle", np.array(SCALE_MIDDLE, np.float32))
    step = graph.weight("scale.step", np.array(SCALE_STEP, np.float32))
    return graph.add("Mul", [graph.add("Sub", [side, middle], "scale.off"), step], "scale")


def _pooled(graph: _Graph, x: str, name: str) -> str:
    """Pool [N,F,H,W] to [N,3F]: mean, mean times the board's scale, maximum."""
    scale = graph.once("scale", _scale)
    mean = graph.add("ReduceMean", [x], f"{name}.mean", axes=[2, 3], keepdims=0)
    scaled = graph.add("Mul", [mean, scale], f"{name}.scaled")
    most = graph.add("ReduceMax", [x], f"{name}.max", axes=[2, 3], keepdims=0)
    return graph.add("Concat", [mean, scaled, most], f"{name}.pooled", axis=1)
