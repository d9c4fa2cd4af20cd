"""Reading, changing and writing ONNX graphs."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.base.files import replacing
from pyengine.errors import ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec

CPU = "CPUExecutionProvider"
BATCH = 32  #: rows per call on the sampled positions
LAYERS = ("Conv", "Gemm", "MatMul")
FLOAT, INT8, HALF = 1, 3, 10  # TensorProto.FLOAT, INT8, FLOAT16
_SHORT = {HALF: "float16", 16: "bfloat16"}


class GraphBuilder:
    """Appends nodes and weights to a graph; each method returns the tensor's name.

    Generated names begin with ``prefix`` and are new to the graph.
    """

    def __init__(self, graph: Any, prefix: str = "") -> None:
        self._onnx = need("onnx", "convert")
        self._graph = graph
        self._prefix = prefix
        self._taken = names_of(graph)

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self._new_name()
        make = self._onnx.helper.make_node
        self._graph.node.append(make(kind, list(inputs), [output], name=output, **attributes))
        return output

    def weight(self, array: npt.NDArray[Any], name: str | None = None) -> str:
        name = name or self._new_name()
        self._graph.initializer.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _new_name(self) -> str:
        number = 1
        while (name := f"{self._prefix}.{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name


def names_of(graph: Any) -> set[str]:
    """Return the names of all tensors and nodes of a graph."""
    values = (*graph.input, *graph.output, *graph.initializer, *graph.node)
    return {entry.name for entry in values} | {
        name for node in graph.node for name in (*node.input, *node.output)
    }


def put(entries: Any, others: Iterable[Any]) -> None:
    """Replace the entries of a repeated field."""
    others = list(others)
    del entries[:]
    entries.extend(others)


# --- files


def prepare(source: Path, file: Path) -> tuple[Any, str, tuple[int | str, ...]]:
    """Simplify a network and write it; return the ONNX model, name and shape of its input.

    ONNX Runtime folds normalisations and scales into the convolutions and infers shapes. Every node
    gets a unique name.
    """
    onnx = need("onnx", "convert")
    shapes = need("onnxruntime.quantization.shape_inference", "convert")
    with quiet():
        shapes.quant_pre_process(str(source), str(file), skip_symbolic_shape=True)
    model = onnx.load(file)
    names: set[str] = set()
    for number, node in enumerate(model.graph.node):
        if not node.name or node.name in names:
            node.name = f"{node.op_type}.{number}"
        names.add(node.name)
    onnx.save(model, file)
    return model, *_input_of(model)


def without_weights(source: Path) -> Any:
    """Load a model without its external data."""
    return need("onnx", "convert").load(source, load_external_data=False)


def keep_metadata(source: Path, model: Any, spec: ModelSpec) -> None:
    """Copy the metadata of a file to a model, with a new spec."""
    metadata = {entry.key: entry.value for entry in without_weights(source).metadata_props}
    helper = need("onnx", "convert").helper
    helper.set_model_props(model, {**metadata, METADATA_KEY: spec.to_json()})


def without_outputs(model: Any, names: Sequence[str]) -> Any:
    """Return a model without some outputs and the nodes that only they need."""
    if not names:
        return model
    inputs = [entry.name for entry in model.graph.input]
    outputs = [entry.name for entry in model.graph.output if entry.name not in names]
    return need("onnx.utils", "convert").Extractor(model).extract_model(inputs, outputs)


def save_model(model: Any, file: Path) -> None:
    """Write a model atomically. Raises DataError."""
    with replacing(file) as temporary:
        temporary.write_bytes(model.SerializeToString())


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the advice that ONNX Runtime logs."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)


def open_session(model: str | bytes, threads: int) -> Any:
    """Open a network, by path or content, in bare ONNX Runtime on the CPU."""
    runtime = need("onnxruntime", "convert")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return runtime.InferenceSession(model, options, providers=[CPU])


# --- the input


def check_float32(model: Any, path: Path) -> None:
    """Raise ModelError if a network is already float16 or int8."""
    graph = model.graph
    constants = {tensor.name: tensor.data_type for tensor in graph.initializer}
    inputs = {entry.name: entry.type.tensor_type.elem_type for entry in graph.input}
    short = [(_SHORT[kind], name) for name, kind in (constants | inputs).items() if kind in _SHORT]
    int8 = [("int8", name) for name, kind in inputs.items() if kind == INT8]
    int8 += [("int8", node.op_type) for node in graph.node if "QuantizeLinear" in node.op_type]
    for kind, name in short + int8:
        raise ModelError(f"{path}: expected a float32 network, got {kind} already, in {name!r}")


def _input_of(model: Any) -> tuple[str, tuple[int | str, ...]]:
    """Return name and shape of the model's only input; a free dimension is a name or 0."""
    constants = {tensor.name for tensor in model.graph.initializer}
    (entry,) = (entry for entry in model.graph.input if entry.name not in constants)
    dims = entry.type.tensor_type.shape.dim
    return entry.name, tuple(dim.dim_param or dim.dim_value for dim in dims)


def batches(
    planes: npt.NDArray[np.float32], shape: Sequence[int | str]
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield full batches in the shape of the input, whose rows may be flat."""
    rows = BATCH if free(shape[0]) else int(shape[0])
    if len(planes) < rows:
        planes = np.resize(planes, (rows, *planes.shape[1:]))  # repeats rows
    for start in range(0, len(planes) - rows + 1, rows):
        batch = planes[start : start + rows]
        yield batch.reshape(rows, -1) if len(shape) == 2 else batch


def free(size: object) -> bool:
    """Return whether a dimension has no fixed size."""
    return not (isinstance(size, int) and size > 0)


# --- what stays in float32


def layers_of(nodes: Iterable[Any]) -> set[str]:
    return {node.name for node in nodes if node.op_type in LAYERS}


def dependents(nodes: Iterable[Any], names: Collection[str]) -> set[str]:
    """Return the nodes that read results of the named nodes, directly or through other nodes."""
    tensors: set[str] = set()
    dependent = set()
    for node in nodes:  # in topological order
        if not tensors.isdisjoint(node.input):
            dependent.add(node.name)
        if node.name in dependent or node.name in names:
            tensors.update(filter(None, node.output))  # "" is an omitted output
    return dependent


def heads(graph: Any) -> set[str]:
    """Return the names of the nodes on which fewer outputs depend than on the tower."""
    outputs_of: dict[str, set[str]] = {entry.name: {entry.name} for entry in graph.output}
    outputs: dict[str, set[str]] = {}
    for node in reversed(graph.node):
        reached = set().union(*(outputs_of.get(name, set()) for name in node.output))
        outputs[node.name] = reached
        for name in node.input:
            outputs_of.setdefault(name, set()).update(reached)
    most = max((len(reached) for reached in outputs.values()), default=0)
    return {name for name, reached in outputs.items() if len(reached) < most}
