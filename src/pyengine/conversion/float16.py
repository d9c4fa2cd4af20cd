"""Conversion of networks to float16, which GPUs compute faster, checked in play.

``onnxruntime.transformers.float16`` is not used: it rounds between any two nodes that stay in
float32, clips weights out of range silently, and leaves the nodes in an order that ONNX's checker
refuses.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from pyengine import _core
from pyengine.base import machine
from pyengine.base.extras import need
from pyengine.conversion.checked import Baseline, ConversionReport, Converted, convert, open_network
from pyengine.conversion.comparison import CheckOptions, LimitCheck
from pyengine.conversion.onnx_graph import (
    FLOAT,
    HALF,
    INT8,
    LAYERS,
    GraphBuilder,
    batches,
    dependents,
    heads,
    keep_metadata,
    layers_of,
    open_session,
    prepare,
    put,
    save_model,
    without_outputs,
)
from pyengine.conversion.positions import Floats
from pyengine.errors import ModelError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

_MAX_FLOAT16 = 65504.0  # [IEEE 754, binary16]
#: Limit of activations on the sampled positions; other positions may exceed it.
_MAX_ACTIVATION = _MAX_FLOAT16 / 2
_GRAPHS = (5, 10)  # AttributeProto.GRAPH, GRAPHS

#: Operators whose results need no more digits or range than their operands: they move or select
#: numbers, or are products and sums that devices accumulate in float32. Excluded are sums over the
#: board, which may overflow even if no term does (ReduceMean, GlobalAveragePool, normalisations),
#: Softmax, LogSoftmax, Exp, Pow and Sqrt. Source: https://onnx.ai/onnx/operators/, versions to 17.
_HALF_OPERATORS = frozenset(
    (
        *("Abs", "Clip", "Concat", "Expand", "Flatten", "Gather", "GlobalMaxPool", "Identity"),
        *("Max", "MaxPool", "Min", "Neg", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape"),
        *("Shape", "Size", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
        *("Add", "Conv", "ConvTranspose", "Div", "Gemm", "MatMul", "Mul", "Sub", "Sum"),
        *("Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "PRelu", "Selu", "Sigmoid", "Tanh"),
    )
)


def to_float16(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game | str,
    **options: Unpack[CheckOptions],
) -> ConversionReport:
    """Convert a network to float16; write it if it passes the checks of :func:`quantise`.

    Arguments and errors are those of :func:`quantise`; a model with branches or loops, or without
    a layer before its heads, is also a ModelError.

    The file is for GPUs; a CPU gains nothing. The tower is float16. The input is int8, which the
    network widens, or float16 if the planes hold more than -1, 0 and 1. Sums over the board,
    softmax, the matrix products of the heads, the last layer before each output and all that
    follows stay in float32. Two more checks apply: the largest weight is at most 65504, the largest
    float16, and the largest activation at most half of that.

    The checks run on the CPU. ONNX Runtime computes float16 there in float32 and rounds rarely, so
    the checked network is a float32 one that rounds every result to float16, like a device that
    accumulates in float32. ``pyengine doctor --gpu`` compares a device with the CPU.
    """
    return convert("float16", _convert, model, out, game, options)


def _convert(baseline: Baseline, file: Path, planes: Floats) -> Converted:
    return write_float16(baseline.source, file, [planes], baseline.spec, [baseline.game])


def write_float16(
    source: Path,
    target: Path,
    planes: Sequence[Floats],
    spec: ModelSpec,
    games: Sequence[Game],
    *,
    without: Sequence[str] = (),
) -> Converted:
    """Write the float16 file of a float32 network if its numbers fit.

    Leaves a simplified copy of the network beside the file, as ``prepared.onnx``, and the network
    to compare, which rounds like a device, as ``rounded.onnx``.

    Args:
        source: the network's file.
        target: the file to write.
        planes: planes to measure activations on, float32[N,C,H,W] per board.
        spec: how the network reads positions, written to the file.
        games: the games that it plays.
        without: outputs of the network to leave out.

    Raises:
        ModelError: the network has branches or loops, or no layer before its heads.
    """
    prepared, _, shape = prepare(source, target.with_name("prepared.onnx"))
    check_no_branches(prepared, source)
    model = without_outputs(prepared, without)
    wide = float32_nodes(model)
    converted, kept = _layers(model, wide, source)
    inputs = (batch for board in planes for batch in batches(board, shape))
    checks = _range_checks(model, wide, inputs)
    if not all(check.passed for check in checks):
        return Converted(None, converted, kept, checks)
    half = write_half(model, wide, target, source, spec, games)
    rounding = target.with_name("rounded.onnx")
    rounded(model, half)
    save_model(model, rounding)
    # The comparison uses the rounded network, but the file itself must also run here.
    network = open_network(target, spec)
    for game in games:
        network.evaluate([game.new_initial_state()], game=game)
    return Converted(rounding, converted, kept, checks)


def check_no_branches(model: Any, path: Path) -> None:
    """Raise ModelError if a node has subgraphs (If, Loop, Scan)."""
    for node in model.graph.node:
        if any(attribute.type in _GRAPHS for attribute in node.attribute):
            raise ModelError(
                f"{path}: expected a network without branches or loops, got {node.op_type}"
            )


def _layers(model: Any, wide: set[str], source: Path) -> tuple[int, int]:
    """Return the number of layers that become float16, at least 1, and that stay in float32."""
    layers = layers_of(model.graph.node)
    left = len(layers & wide)
    if left == len(layers):
        raise ModelError(
            f"{source}: expected layers before the heads to convert, but all {left} must stay in "
            "float32"
        )
    return len(layers) - left, left


def _range_checks(model: Any, wide: set[str], inputs: Iterable[Floats]) -> list[LimitCheck]:
    """Check that weights and activations fit into float16."""
    weights, tensors = half_tensors(model, wide)
    activations = _largest_results(model, tensors, inputs)
    return [
        range_check("weight, max", _largest_weights(model, weights), _MAX_FLOAT16),
        range_check("activation, max", activations, _MAX_ACTIVATION),
    ]


def range_check(name: str, largest: dict[str, float], limit: float) -> LimitCheck:
    """Check the largest number of each tensor; NaN fails."""

    def size(tensor: str) -> float:
        return math.inf if math.isnan(largest[tensor]) else largest[tensor]

    worst = max(largest, key=size, default="")
    measured = largest.get(worst, 0.0)
    detail = f"tensor {worst}; the largest float16 is 65504"
    return LimitCheck.at_most(name, measured, limit, detail)


def _largest_weights(model: Any, names: Collection[str]) -> dict[str, float]:
    """Return the largest finite absolute value of each named weight."""
    to_array = need("onnx", "convert").numpy_helper.to_array
    largest = {}
    for tensor in model.graph.initializer:
        if tensor.name in names:
            sizes = np.abs(to_array(tensor))
            largest[tensor.name] = float(sizes[~np.isinf(sizes)].max(initial=0.0))
    return largest


def _largest_results(
    model: Any, names: Sequence[str], inputs: Iterable[Floats]
) -> dict[str, float]:
    """Return the largest absolute value of each named tensor of a float32 model."""
    onnx = need("onnx", "convert")
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    outputs = [f"{name}.largest" for name in names]
    build = GraphBuilder(watched.graph)
    for name, output in zip(names, outputs, strict=True):
        sizes = build.node("Abs", name, output=f"{output}.sizes")
        build.node("ReduceMax", sizes, output=output, keepdims=0)
        watched.graph.output.append(onnx.helper.make_tensor_value_info(output, FLOAT, []))
    session = open_session(watched.SerializeToString(), machine.cores())
    planes = session.get_inputs()[0].name
    rows = [session.run(outputs, {planes: batch}) for batch in inputs]
    return dict(zip(names, np.max(rows, axis=0).astype(float).tolist(), strict=True))


def write_half(
    model: Any, wide: set[str], file: Path, source: Path, spec: ModelSpec, games: Sequence[Game]
) -> set[str]:
    """Convert a prepared model to float16 and write it, unchecked, with its source's metadata.

    Returns the names of the float16 tensors without the weights.
    """
    fits_int8 = all(_core.fits_int8(game, spec) for game in games)
    half = to_half(model, wide, INT8 if fits_int8 else HALF)
    keep_metadata(source, model, spec)
    save_model(model, file)
    return half


# --- the graph; ``wide`` are the names of the nodes in float32


def float32_nodes(model: Any) -> set[str]:
    """Return the names of the nodes that stay in float32; every node must have a name.

    These are operators that need the range or digits of float32, the matrix products of the heads,
    the last layers before an output, and what depends on them: a logit of 20 has steps of 1/64 in
    float16. Operators between them also stay, such as the addition of an epsilon in a
    normalisation.
    """
    nodes = model.graph.node
    wide = {node.name for node in nodes if node.domain or node.op_type not in _HALF_OPERATORS}
    matrices = {node.name for node in nodes if node.op_type in ("Gemm", "MatMul")}
    layers = layers_of(nodes)
    last = {name for name in layers if layers.isdisjoint(dependents(nodes, [name]))}
    ends = (heads(model.graph) & matrices) | last
    wide |= ends | dependents(nodes, ends)
    return wide | _between(model.graph, wide)


def _between(graph: Any, wide: Collection[str]) -> set[str]:
    """Return the nodes, except layers, that read only ``wide`` nodes or each other."""
    constant = {tensor.name for tensor in graph.initializer} | {""}
    names: set[str] = set()
    outputs: set[str] = set()
    for node in graph.node:
        read = set(node.input) - constant
        if node.op_type not in LAYERS and read and read <= outputs:
            names.add(node.name)
        if node.name in wide or node.name in names:
            outputs.update(node.output)
    return names


def half_tensors(model: Any, wide: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the weights and the other tensors that must fit into float16."""
    floats = _float_tensors(model.graph)
    weights = {tensor.name for tensor in model.graph.initializer}
    half = [node for node in model.graph.node if node.name not in wide]
    names = dict.fromkeys(name for node in half for name in (*node.input, *node.output))
    fit = [name for name in names if name in floats]
    return [n for n in fit if n in weights], [n for n in fit if n not in weights]


def _float_tensors(graph: Any) -> set[str]:
    """Return the names of the tensors known to be float32."""
    typed = (*graph.input, *graph.value_info, *graph.output)
    floats = {entry.name for entry in typed if entry.type.tensor_type.elem_type == FLOAT}
    return floats | {tensor.name for tensor in graph.initializer if tensor.data_type == FLOAT}


def to_half(model: Any, wide: Collection[str], input_type: int = HALF) -> set[str]:
    """Convert a float32 model to float16 in place, except the ``wide`` nodes and the outputs.

    The input becomes HALF, or INT8 with a cast. Weights beyond the range of float16 become
    infinite. Returns the names of the float16 tensors without the weights.
    """
    change = _Change(model.graph, input_type)
    for node in list(model.graph.node):
        change.add(node, half=node.name not in wide)
    return change.finish()


class _Change:
    """A conversion of a graph to float16.

    A tensor that nodes of both types read exists twice. The float32 one keeps the name; only the
    input keeps its own name as float16, or as int8 with both types cast from it.
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
        #: Names in float32 (False) and float16 (True) by the name in the original model.
        self._names: dict[bool, dict[str, str]] = {
            False: {name: name for name in self._weights},
            True: {name: name for name in self._inputs & self._floats if input_type == HALF},
        }

    def add(self, node: Any, *, half: bool) -> None:
        """Add a node whose float tensors all have one type."""
        for i, name in enumerate(node.input):
            if name in self._floats:
                node.input[i] = self._in_type(name, half)
        for i, name in enumerate(node.output):
            if name in self._floats:
                node.output[i] = self._names[half][name] = self._new_name(name, half)
        self._nodes.append(node)

    def finish(self) -> set[str]:
        """Write the graph; return the names of the float16 tensors without the weights."""
        for entry in self._graph.output:
            if entry.name in self._floats:
                self._in_type(entry.name, half=False)
        put(self._graph.input, [e for e in self._graph.input if e.name in self._inputs])
        for entry in self._graph.input:
            if entry.name in self._floats:
                entry.type.tensor_type.elem_type = self._input_type
        read = {name for node in self._nodes for name in node.input}
        weights = [tensor for tensor in self._weights.values() if tensor.name in read]
        put(self._graph.node, self._nodes)
        put(self._graph.initializer, [*weights, *self._new_weights])
        del self._graph.value_info[:]
        return {new for old, new in self._names[True].items() if old not in self._weights}

    def _in_type(self, name: str, half: bool) -> str:
        """Return the name of a tensor in a type; convert it on first use."""
        names = self._names[half]
        if name not in names:
            names[name] = self._new_name(name, half)
            if half and name in self._weights:
                numpy = self._onnx.numpy_helper
                with np.errstate(over="ignore"):
                    array = numpy.to_array(self._weights[name]).astype(np.float16)
                self._new_weights.append(numpy.from_array(array, names[name]))
            else:
                other = self._names[not half].get(name, name)  # or the input itself
                self._nodes.append(_cast(other, names[name], HALF if half else FLOAT))
        return names[name]

    def _new_name(self, name: str, half: bool) -> str:
        if not half and name not in self._inputs:
            return name
        name = f"{name}.float16" if half else f"{name}.float32"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _cast(name: str, output: str, kind: int) -> Any:
    onnx = need("onnx", "convert")
    return onnx.helper.make_node("Cast", [name], [output], name=f"{name}.to.{output}", to=kind)


def rounded(model: Any, half: Collection[str]) -> None:
    """Make a float16 model compute in float32 and round each ``half`` tensor, in place.

    Devices that accumulate in float32 and store float16 do the same; on a CPU, ONNX Runtime omits
    the rounding between nodes that it computes in float32. The input becomes float32.
    """
    onnx = need("onnx", "convert")
    graph = model.graph
    weights = []
    for tensor in graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        wide = array.astype(np.float32) if tensor.data_type == HALF else array
        weights.append(onnx.numpy_helper.from_array(wide, tensor.name))
    put(graph.initializer, weights)
    nodes = []
    renamed = {}
    for entry in graph.input:
        if entry.name in half:
            entry.type.tensor_type.elem_type = FLOAT
            renamed[entry.name] = f"{entry.name}.rounded"
            nodes += _rounding(entry.name, renamed[entry.name])
    for node in list(graph.node):
        put(node.input, [renamed.get(name, name) for name in node.input])
        if node.op_type == "Cast" and node.output[0] in half:
            put(node.attribute, [onnx.helper.make_attribute("to", FLOAT)])
        roundings = []
        for i, name in enumerate(node.output):
            if name in half:
                node.output[i] = f"{name}.wide"
                roundings += _rounding(node.output[i], name)
        nodes += [node, *roundings]
    put(graph.node, nodes)


def _rounding(name: str, output: str) -> list[Any]:
    """Return nodes that round a float32 tensor to float16 and back."""
    short = f"{output}.short"
    return [_cast(name, short, HALF), _cast(short, output, FLOAT)]
