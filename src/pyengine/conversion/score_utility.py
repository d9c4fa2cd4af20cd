"""The utility of the score: a value that also says how far ahead a player is."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.arguments import check_type, number
from pyengine.base.extras import need
from pyengine.base.files import replacing
from pyengine.conversion.checked_conversion import open_network, source_and_target
from pyengine.errors import ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec

__all__ = ["POINTS", "with_score_utility"]

#: The default lead that is worth half of the weight: about twice the width of Go's small board.
POINTS = 20.0

_OUTPUT = "value_with_score"
_FLOAT = 1  # TensorProto.FLOAT
_IR_VERSION = 4  # older files must list their constants as inputs
_MEASURED = ("pyengine.int8", "pyengine.float16")  # of the network before


def with_score_utility(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    weight: float = 0.1,
    points: float = POINTS,
    spec: ModelSpec | None = None,
) -> ModelSpec:
    """Write a copy of a network whose value counts points as well as wins [KataGo, score utility].

    The value becomes ``(1 - weight) * value + weight * score / (points + abs(score))``, in [-1, 1].
    A search with the copy prefers, of moves that win as often, the one that wins by more. What is
    over or proven counts as won, drawn or lost alone, so the last moves of a game may give points
    away as before.

    The copy is for playing. Its values are no chances of winning, and self-play would record them.
    A value beyond the range of its kind, which evaluators refuse, may be within it in the copy: try
    the network itself first.

    Args:
        model: an ONNX file that says its score, or the name of a bundled network.
        out: the file to write; its other outputs and its metadata are the model's, but for what a
            conversion to int8 or float16 measured.
        weight: of the score, in [0, 1].
        points: a lead that is worth half of the weight, in [0.001, 1e6]. KataGo scales by twice the
            width of the board.
        spec: how the network reads positions; None = as :class:`pyengine.OnnxEvaluator` finds it.

    Returns:
        How the copy reads positions, which its file says too: a scalar value for the mover, in the
        output ``value_with_score``, which takes the place of the model's own value.

    Raises:
        EngineError: the extra ``convert`` is not installed.
        ConfigError: an argument is out of range, or ``out`` cannot be written or is the model's
            own file.
        DataError: writing failed.
        ModelError: the model cannot be loaded, says no score or has this utility already, its value
            is the first player's, or it does not say which output is the value.
    """
    weight = number("weight", weight, "a number in [0, 1]", lambda share: 0 <= share <= 1)
    points = number("points", points, "points in [0.001, 1e6]", lambda lead: 1e-3 <= lead <= 1e6)
    check_type("spec", spec, ModelSpec | None, "a ModelSpec or None")
    source, target = source_and_target(model, out)
    onnx = need("onnx", "convert")
    original = open_network(source, spec)
    reading = original.spec or ModelSpec()
    network = onnx.load(original.path)
    value, score = _outputs(reading, network.graph, original.path)
    _replace_value(network.graph, reading, value, score, weight=weight, points=points)
    network.ir_version = max(network.ir_version, _IR_VERSION)
    changed = replace(reading, value="scalar", value_kind=None, value_output=_OUTPUT)
    kept = {entry.key: entry.value for entry in network.metadata_props}
    kept = {key: value for key, value in kept.items() if key not in _MEASURED}
    onnx.helper.set_model_props(network, {**kept, METADATA_KEY: changed.to_json()})
    with replacing(target) as temporary:
        temporary.write_bytes(network.SerializeToString())
        open_network(temporary, changed)
    return changed


def _outputs(spec: ModelSpec, graph: Any, path: Path) -> tuple[str, str]:
    """Return the names of value and score. Raises ModelError where the value cannot count both."""
    outputs = {entry.name: entry for entry in graph.output}
    if _OUTPUT in _names(graph):
        raise ModelError(f"{path}: expected a value without a utility of the score, found one")
    score, value = spec.score_output, _value_output(spec, outputs)
    if score is None:
        raise ModelError(
            f"{path}: expected an output of the score, found that the network does not say its "
            f"score: its spec has no score_output, and its outputs are {_listed(outputs)}"
        )
    if score not in outputs or not _may_have(outputs[score], 1):
        raise ModelError(
            f"{path}: expected an output of the score, a number a row, which score_output of the "
            f"spec names, found {score!r} and the outputs {_listed(outputs)}"
        )
    size = _value_size(spec)
    if value not in outputs or value == score or not _may_have(outputs[value], size):
        raise ModelError(
            f"{path}: expected an output of the value, {size} numbers a row, named 'value' or by "
            f"value_output of the spec, found {value!r} and the outputs {_listed(outputs)}"
        )
    if spec.value_for != "mover":
        raise ModelError(
            f"{path}: expected a value for the mover, as the score is, found {spec.value_for!r}"
        )
    return value, score


def _value_output(spec: ModelSpec, outputs: dict[str, Any]) -> str:
    """Return the name of the value's tensor, found as evaluators find it."""
    if spec.value_output is not None or "value" in outputs:
        return spec.value_output or "value"
    others = {spec.policy_output, *spec.final_board_outputs}
    fitting = [
        name
        for name, entry in outputs.items()
        if name not in others and _row_size(entry) == _value_size(spec)
    ]
    return fitting[0] if len(fitting) == 1 else "value"


def _value_size(spec: ModelSpec) -> int:
    return 1 if spec.value == "scalar" else len(spec.value)


def _row_size(entry: Any) -> int | None:
    """Return how many numbers a row of a tensor holds; None where its shape leaves that open."""
    sizes = [dim.dim_value for dim in entry.type.tensor_type.shape.dim[1:]]
    return None if 0 in sizes else math.prod(sizes)


def _may_have(entry: Any, size: int) -> bool:
    return _row_size(entry) in (None, size)


def _listed(outputs: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({_row_size(entry)} a row)" for name, entry in outputs.items())


def _names(graph: Any) -> set[str]:
    """Return the names of all tensors and nodes of a graph."""
    values = (*graph.input, *graph.output, *graph.initializer, *graph.node)
    return {entry.name for entry in values} | {
        name for node in graph.node for name in (*node.input, *node.output)
    }


def _replace_value(
    graph: Any, spec: ModelSpec, value: str, score: str, *, weight: float, points: float
) -> None:
    """Put the new output into the place of the value's.

    KataGo's utility is an arc tangent, for which ONNX Runtime has no kernel of CUDA: the node would
    cost a batch the way to the processor and back. The quotient has the same bounds and half.
    """
    build = _Builder(graph)
    won = build.node("Mul", _scalar(build, spec, value), build.constant(1 - weight))
    lead = build.node("Mul", build.rows(score, 1), build.constant(1 / points))
    lead = build.node("Mul", build.node("Softsign", lead), build.constant(weight))
    build.node("Add", won, lead, output=_OUTPUT)
    place = [entry.name for entry in graph.output].index(value)
    batch = graph.output[place].type.tensor_type.shape.dim[0]
    rows = batch.dim_param or batch.dim_value or None
    helper = need("onnx", "convert").helper
    graph.output[place].CopyFrom(helper.make_tensor_value_info(_OUTPUT, _FLOAT, [rows, 1]))


def _scalar(build: _Builder, spec: ModelSpec, value: str) -> str:
    """Return the tensor [N,1] of the value in [-1, 1], of whatever the output holds."""
    rows = build.rows(value, _value_size(spec))
    if spec.value != "scalar":
        if spec.value_kind != "probs":
            rows = build.node("Softmax", rows, axis=1)
        signs = {"win": 1.0, "draw": 0.0, "loss": -1.0}
        won = build.node("MatMul", rows, build.constant([[signs[part]] for part in spec.value]))
        return build.node("Div", won, build.node("MatMul", rows, build.constant([[1.0]] * 3)))
    if spec.value_kind == "logits":
        return build.node("Tanh", rows)
    if spec.value_kind == "probs":
        twice = build.node("Mul", rows, build.constant(2.0))
        return build.node("Add", twice, build.constant(-1.0))
    return rows


class _Builder:
    """Appends nodes and constants to a graph, under names that it does not have."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._onnx = need("onnx", "convert")
        self._taken = _names(graph)

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Append a node; return the name of its output."""
        output = output or self._name()
        make = self._onnx.helper.make_node
        self._graph.node.append(make(kind, list(inputs), [output], name=output, **attributes))
        return output

    def rows(self, tensor: str, width: int) -> str:
        """Return a tensor as float32[N,width]."""
        wide = self.node("Cast", tensor, to=_FLOAT)
        return self.node("Reshape", wide, self.constant([-1, width]))

    def constant(self, numbers: Any) -> str:
        """Add a tensor, int64 of integers and else float32; return its name."""
        array = np.asarray(numbers)
        kind = np.int64 if array.dtype.kind == "i" else np.float32
        name = self._name()
        tensor = self._onnx.numpy_helper.from_array(array.astype(kind), name)
        self._graph.initializer.append(tensor)
        return name

    def _name(self) -> str:
        number = 1
        while (name := f"{_OUTPUT}.{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name
