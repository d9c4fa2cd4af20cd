"""What a network's graph holds, and what of it stays in float32 when the rest becomes int8."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyengine.errors import ModelError

__all__ = [
    "LAYERS",
    "check_float32",
    "check_input",
    "check_no_branches",
    "float_nodes",
    "heads",
    "name_nodes",
]

LAYERS = ("Conv", "Gemm", "MatMul")
_FLOAT = 1  # TensorProto.FLOAT
_SHORT = {10: "float16", 16: "bfloat16"}  # of TensorProto
_GRAPHS = (5, 10)  # AttributeProto.GRAPH, GRAPHS


def name_nodes(model: Any) -> None:
    """Give every node a name of its own, by which the quantiser can be told to spare it."""
    names: set[str] = set()
    for number, node in enumerate(model.graph.node):
        if not node.name or node.name in names:
            node.name = f"{node.op_type}.{number}"
        names.add(node.name)


def check_float32(model: Any, path: Path) -> None:
    """Raise ModelError where a network is in float16 or int8 already."""
    graph = model.graph
    types = {entry.name: entry.type.tensor_type.elem_type for entry in graph.input}
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    short = [(_SHORT[kind], name) for name, kind in types.items() if kind in _SHORT]
    int8 = [("int8", node.op_type) for node in graph.node if "QuantizeLinear" in node.op_type]
    for kind, name in (short + int8)[:1]:
        raise ModelError(f"{path}: expected a float32 network, found {kind} already, in {name!r}")


def check_no_branches(model: Any, path: Path) -> None:
    """Raise ModelError where a node has graphs of its own (If, Loop, Scan)."""
    for node in model.graph.node:
        if any(attribute.type in _GRAPHS for attribute in node.attribute):
            raise ModelError(
                f"{path}: expected a network without branches and loops, found {node.op_type}"
            )


def check_input(model: Any, path: Path) -> tuple[str, tuple[int | str, ...]]:
    """Return name and shape of the model's only input; a free dimension is its name or 0.

    Raises ModelError when there are several, or when it is not float32.
    """
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [entry for entry in model.graph.input if entry.name not in constants]
    if len(inputs) != 1:
        raise ModelError(f"{path}: expected one input, found {[entry.name for entry in inputs]}")
    tensor = inputs[0].type.tensor_type
    if tensor.elem_type != _FLOAT:
        raise ModelError(f"{path}: expected a float32 input, found type {tensor.elem_type} of ONNX")
    dims = tensor.shape.dim
    return inputs[0].name, tuple(dim.dim_param or dim.dim_value for dim in dims)


def float_nodes(model: Any) -> set[str]:
    """Return the names of the nodes that int8 would harm more than it speeds them up.

    These are the layers that read the planes (few channels), and the heads: whatever leads to
    fewer outputs than the tower does.
    """
    return _readers(model.graph) | heads(model.graph)


def _readers(graph: Any) -> set[str]:
    """The first layers on the ways from the input, which see nothing but planes."""
    fresh = {entry.name for entry in graph.input}
    constant = {tensor.name for tensor in graph.initializer} | {""}
    first = set()
    for node in graph.node:  # in topological order
        if not fresh.issuperset(set(node.input) - constant):
            continue
        if node.op_type in LAYERS:
            first.add(node.name)
        else:
            fresh.update(node.output)
    return first


def heads(graph: Any) -> set[str]:
    """Return the names of the nodes that lead to fewer outputs than the tower does."""
    leads_to: dict[str, set[str]] = {entry.name: {entry.name} for entry in graph.output}
    ends: dict[str, set[str]] = {}
    for node in reversed(graph.node):
        found = set().union(*(leads_to.get(name, set()) for name in node.output))
        ends[node.name] = found
        for name in node.input:
            leads_to.setdefault(name, set()).update(found)
    most = max((len(found) for found in ends.values()), default=0)
    return {name for name, found in ends.items() if len(found) < most}
