"""What float16 does to a network, found on a CPU: the numbers it must hold, and its rounding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base import machine
from pyengine.base.extras import need
from pyengine.conversion.float16_graph import FLOAT, HALF, cast, put
from pyengine.conversion.model_file import CPU

__all__ = ["MAX_FLOAT16", "largest_results", "largest_weights", "rounded"]

#: The largest number of float16 [IEEE 754, binary16].
MAX_FLOAT16 = 65504.0


def largest_weights(model: Any, names: Collection[str]) -> dict[str, float]:
    """Return the largest absolute value of each of the named weights, infinity left out."""
    onnx = need("onnx", "convert")
    found = {}
    for tensor in model.graph.initializer:
        if tensor.name in names:
            sizes = np.abs(onnx.numpy_helper.to_array(tensor))
            found[tensor.name] = float(sizes[~np.isinf(sizes)].max(initial=0.0))
    return found


def largest_results(
    model: Any, names: Sequence[str], batches: Iterable[npt.NDArray[np.float32]]
) -> dict[str, float]:
    """Return the largest absolute value of each of the named tensors.

    Args:
        model: float32, with one input; left as it is.
        names: of its input or results of its nodes.
        batches: what the input is given, as the model takes it.
    """
    onnx, runtime = need("onnx", "convert"), need("onnxruntime", "convert")
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    outputs = [f"{name}.largest" for name in names]
    for name, output in zip(names, outputs, strict=True):
        make = onnx.helper.make_node
        sizes = f"{output}.sizes"
        watched.graph.node.append(make("Abs", [name], [sizes], name=sizes))
        watched.graph.node.append(make("ReduceMax", [sizes], [output], name=output, keepdims=0))
        watched.graph.output.append(onnx.helper.make_tensor_value_info(output, FLOAT, []))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = machine.cores()
    options.log_severity_level = 3
    session = runtime.InferenceSession(watched.SerializeToString(), options, providers=[CPU])
    planes = session.get_inputs()[0].name
    rows = [session.run(outputs, {planes: batch}) for batch in batches]
    return dict(zip(names, np.max(rows, axis=0).astype(float).tolist(), strict=True))


def rounded(model: Any, half: Collection[str]) -> None:
    """Let a float16 model compute in float32 and round each of its ``half`` tensors, in place.

    So do devices that accumulate in float32 and store float16. Its answers are theirs on a CPU,
    where ONNX Runtime leaves the rounding out between nodes that it computes in float32. Its input
    is float32.
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
    """Nodes that round a float32 tensor to float16 and give it as float32."""
    short = f"{output}.short"
    return [cast(name, short, HALF), cast(short, output, FLOAT)]
