"""A network's graph in float16: what of it stays in float32, and the change of the rest.

``onnxruntime.transformers.float16`` converts graphs too. It was not taken: it rounds between any
two nodes that stay in float32, clips weights beyond the range without a word, and leaves the nodes
in an order that ONNX's checker refuses.

Source of the types that an operator takes: https://onnx.ai/onnx/operators/, versions up to 17.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from pyengine.base.extras import need
from pyengine.conversion.onnx_graph import LAYERS, heads

__all__ = ["FLOAT", "HALF", "INT8", "cast", "float32_nodes", "half_tensors", "put", "to_half"]

FLOAT, INT8, HALF = 1, 3, 10  # TensorProto.FLOAT, INT8, FLOAT16

#: Operators whose results need no more digits or range than their operands. They move or choose
#: numbers, or are products and sums that devices accumulate in float32. All others stay in
#: float32: sums over the board, which may overflow where no term does (ReduceMean, ReduceSum,
#: GlobalAveragePool, the normalisations), Softmax and LogSoftmax, Exp, Pow, Sqrt.
_HALF_OPERATORS = frozenset(
    (
        *("Abs", "Clip", "Concat", "Expand", "Flatten", "Gather", "GlobalMaxPool", "Identity"),
        *("Max", "MaxPool", "Min", "Neg", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape"),
        *("Shape", "Size", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
        *("Add", "Conv", "ConvTranspose", "Div", "Gemm", "MatMul", "Mul", "Sub", "Sum"),
        *("Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "PRelu", "Selu", "Sigmoid", "Tanh"),
    )
)


def float32_nodes(model: Any) -> set[str]:
    """Return the names of the nodes that stay in float32; each node has a name.

    These are operators that need its range or digits, the matrix products of the heads, the last
    layers before an output, and what follows on either: a logit of 20 has steps of 1/64 in
    float16, and they are next to no work. So are operators between these, such as the addition of
    an epsilon in a normalisation.
    """
    nodes = model.graph.node
    kept = {node.name for node in nodes if node.domain or node.op_type not in _HALF_OPERATORS}
    matrices = {node.name for node in nodes if node.op_type in ("Gemm", "MatMul")}
    kept |= _following(nodes, (heads(model.graph) & matrices) | _last_layers(nodes))
    return kept | _between(model.graph, kept)


def _last_layers(nodes: Any) -> set[str]:
    """The layers that lead to no other layer."""
    read: set[str] = set()  # by layers, or on the way to them
    last = set()
    for node in reversed(nodes):
        layer, leads = node.op_type in LAYERS, not read.isdisjoint(node.output)
        if layer and not leads:
            last.add(node.name)
        if layer or leads:
            read.update(node.input)
    return last


def _following(nodes: Any, start: Collection[str]) -> set[str]:
    """The named nodes and all that read what they give."""
    found: set[str] = set()
    given: set[str] = set()
    for node in nodes:  # in topological order
        if node.name in start or not given.isdisjoint(node.input):
            found.add(node.name)
            given.update(node.output)
    return found


def _between(graph: Any, kept: Collection[str]) -> set[str]:
    """The nodes, but layers, that read nothing but what the kept nodes, and they, give."""
    constant = {tensor.name for tensor in graph.initializer} | {""}
    found: set[str] = set()
    given: set[str] = set()
    for node in graph.node:
        read = set(node.input) - constant
        if node.op_type not in LAYERS and read and read <= given:
            found.add(node.name)
        if node.name in kept or node.name in found:
            given.update(node.output)
    return found


def half_tensors(model: Any, kept: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the names of the weights, and of the other tensors, that have to fit into float16.

    They are what the nodes that are not ``kept`` read and give, named as in the float32 model.
    """
    floats = _float_tensors(model.graph)
    weights = {tensor.name for tensor in model.graph.initializer}
    half = [node for node in model.graph.node if node.name not in kept]
    names = dict.fromkeys(name for node in half for name in (*node.input, *node.output))
    found = [name for name in names if name in floats]
    return [n for n in found if n in weights], [n for n in found if n not in weights]


def _float_tensors(graph: Any) -> set[str]:
    """The names of the float32 tensors, as far as shape inference knows their types."""
    typed = (*graph.input, *graph.value_info, *graph.output)
    floats = {entry.name for entry in typed if entry.type.tensor_type.elem_type == FLOAT}
    return floats | {tensor.name for tensor in graph.initializer if tensor.data_type == FLOAT}


def to_half(model: Any, kept: Collection[str], input_type: int = HALF) -> set[str]:
    """Turn a float32 model into float16, in place, but for the ``kept`` nodes and the outputs.

    The input becomes float16, or INT8, which the model casts. Weights beyond the range of float16
    become infinite. Returns the names of the float16 tensors but the weights.
    """
    change = _Change(model.graph, input_type)
    for node in list(model.graph.node):
        change.add(node, half=node.name not in kept)
    return change.finish()


class _Change:
    """A graph on its way to float16.

    A tensor that nodes of both types read exists twice, as twins; the twin in float32 has its name,
    but that of the input, which keeps its own and is float16, or int8 with both twins cast from it.
    """

    def __init__(self, graph: Any, input_type: int) -> None:
        self._onnx = need("onnx", "convert")
        self._graph = graph
        self._floats = _float_tensors(graph)
        self._weights = {tensor.name: tensor for tensor in graph.initializer}
        self._inputs = {entry.name for entry in graph.input} - set(self._weights)
        self._input_type = input_type
        self._taken = {name for node in graph.node for name in (*node.input, *node.output)}
        self._nodes: list[Any] = []
        self._new_weights: list[Any] = []
        #: Names of the twins in float32 and float16 (True), by the name in the float32 model.
        self._twins: dict[bool, dict[str, str]] = {
            False: {name: name for name in self._weights},
            True: {name: name for name in self._inputs & self._floats if input_type == HALF},
        }

    def add(self, node: Any, *, half: bool) -> None:
        """Take over a node; its float tensors are all of one type."""
        for i, name in enumerate(node.input):
            if name in self._floats:
                node.input[i] = self._twin(name, half)
        for i, name in enumerate(node.output):
            if name in self._floats:
                node.output[i] = self._twins[half][name] = self._new_name(name, half)
        self._nodes.append(node)

    def finish(self) -> set[str]:
        """Put all into the graph; return the names of the float16 tensors but the weights."""
        for entry in self._graph.output:
            if entry.name in self._floats:
                self._twin(entry.name, half=False)
        put(self._graph.input, [e for e in self._graph.input if e.name in self._inputs])
        for entry in self._graph.input:
            if entry.name in self._floats:
                entry.type.tensor_type.elem_type = self._input_type
        read = {name for node in self._nodes for name in node.input}
        weights = [tensor for tensor in self._weights.values() if tensor.name in read]
        put(self._graph.node, self._nodes)
        put(self._graph.initializer, [*weights, *self._new_weights])
        del self._graph.value_info[:]
        return {new for old, new in self._twins[True].items() if old not in self._weights}

    def _twin(self, name: str, half: bool) -> str:
        """Return the name of a tensor in one of the types; make it where there is none yet."""
        twins = self._twins[half]
        if name not in twins:
            twins[name] = self._new_name(name, half)
            if half and name in self._weights:
                array = _half_array(self._onnx, self._weights[name])
                tensor = self._onnx.numpy_helper.from_array(array, twins[name])
                self._new_weights.append(tensor)
            else:
                other = self._twins[not half].get(name, name)  # or the input itself
                self._nodes.append(cast(other, twins[name], HALF if half else FLOAT))
        return twins[name]

    def _new_name(self, name: str, half: bool) -> str:
        if not half and name not in self._inputs:
            return name
        name = f"{name}.float16" if half else f"{name}.float32"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _half_array(onnx: Any, tensor: Any) -> Any:
    with np.errstate(over="ignore"):
        return onnx.numpy_helper.to_array(tensor).astype(np.float16)


def put(entries: Any, others: Iterable[Any]) -> None:
    """Give a repeated field of a message other entries."""
    kept = list(others)
    del entries[:]
    entries.extend(kept)


def cast(name: str, output: str, kind: int) -> Any:
    """Return a node that casts a tensor to a type of ONNX."""
    onnx = need("onnx", "convert")
    return onnx.helper.make_node("Cast", [name], [output], name=f"{name}.to.{output}", to=kind)
