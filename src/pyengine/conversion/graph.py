"""What of a network's graph stays in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyengine.errors import ModelError

__all__ = ["check_input", "float_nodes", "name_nodes"]

_LAYERS = ("Conv", "Gemm", "MatMul")
_FLOAT = 1  # TensorProto.FLOAT


def name_nodes(model: Any) -> None:
    """Give every node a name of its own, by which the quantiser can be told to spare it."""
    names: set[str] = set()
    for number, node in enumerate(model.graph.node):
        if not node.name or node.name in names:
            node.name = f"{node.op_type}.{number}"
        names.add(node.name)


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
    return _readers(model.graph) | _heads(model.graph)


def _readers(graph: Any) -> set[str]:
    """The first layers on the ways from the input, which see nothing but planes."""
    fresh = {entry.name for entry in graph.input}
    constant = {tensor.name for tensor in graph.initializer} | {""}
    first = set()
    for node in graph.node:  # in topological order
        if not fresh.issuperset(set(node.input) - constant):
            continue
        if node.op_type in _LAYERS:
            first.add(node.name)
        else:
            fresh.update(node.output)
    return first


def _heads(graph: Any) -> set[str]:
    leads_to: dict[str, set[str]] = {entry.name: {entry.name} for entry in graph.output}
    ends: dict[str, set[str]] = {}
    for node in reversed(graph.node):
        found = set().union(*(leads_to.get(name, set()) for name in node.output))
        ends[node.name] = found
        for name in node.input:
            leads_to.setdefault(name, set()).update(found)
    most = max((len(found) for found in ends.values()), default=0)
    return {name for name, found in ends.items() if len(found) < most}
