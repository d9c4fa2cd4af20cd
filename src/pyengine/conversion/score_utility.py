"""Score utility: a value that also counts the lead in points."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.checks import number
from pyengine.base.extras import need
from pyengine.base.files import replacing
from pyengine.conversion.checked import open_network, source_and_target
from pyengine.conversion.onnx_graph import FLOAT, GraphBuilder, names_of
from pyengine.errors import ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec

#: The lead worth half of the weight: about twice the width of a 9x9 board.
POINTS = 20.0

_OUTPUT = "value_with_score"
_IR_VERSION = 4  # older files must list their constants as inputs
_MEASURED = ("pyengine.int8", "pyengine.float16")  # metadata about the original value


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
    Among moves that win equally often, a search with the copy prefers the one that wins by more. A
    finished or proven game counts only as won, drawn or lost, so the last moves of a game may still
    give points away.

    The copy is for playing. Its values are not winning chances, and self-play would record them.
    Evaluators refuse a value out of range; in the copy it may be back in range, so try the original
    network first.

    Args:
        model: an ONNX file that predicts its score, or the name of a bundled network.
        out: the file to write, with the other outputs and the metadata of the model, except the
            measurements of a conversion to int8 or float16.
        weight: weight of the score, in [0, 1].
        points: the lead worth half of the weight, in [0.001, 1e6]. KataGo uses twice the width of
            the board.
        spec: how the network reads positions; None = as :class:`pyengine.OnnxEvaluator` does.

    Returns:
        The spec of the copy, which its file also holds: a scalar value for the player to move, in
        the output ``value_with_score``, which replaces the model's value.

    Raises:
        EngineError: the extra ``convert`` is not installed.
        ConfigError: an argument is out of range, or ``out`` cannot be written or is a file of the
            model.
        DataError: writing failed.
        ModelError: the model cannot be loaded, has no score or already has this utility, its value
            is for the first player, or its value output is unknown.
    """
    weight = number("weight", weight, "a number in [0, 1]", lambda share: 0 <= share <= 1)
    points = number("points", points, "points in [0.001, 1e6]", lambda lead: 1e-3 <= lead <= 1e6)
    source, target = source_and_target(model, out)
    onnx = need("onnx", "convert")
    original = open_network(source, spec)
    before = original.spec or ModelSpec()
    network = onnx.load(original.path)
    value, score = _outputs(before, network.graph, original.path)
    _replace_value(network.graph, before, value, score, weight=weight, points=points)
    network.ir_version = max(network.ir_version, _IR_VERSION)
    changed = before.replace(value="scalar", value_kind=None, value_output=_OUTPUT)
    metadata = {
        entry.key: entry.value for entry in network.metadata_props if entry.key not in _MEASURED
    }
    onnx.helper.set_model_props(network, {**metadata, METADATA_KEY: changed.to_json()})
    with replacing(target) as temporary:
        temporary.write_bytes(network.SerializeToString())
        open_network(temporary, changed)
    return changed


def _outputs(spec: ModelSpec, graph: Any, path: Path) -> tuple[str, str]:
    """Return the names of the value and score outputs. Raises ModelError without both."""
    outputs = {entry.name: entry for entry in graph.output}
    score, value, size = spec.score_output, _value_output(spec, outputs), _value_size(spec)
    listed = ", ".join(f"{name} ({_row_size(entry)} per row)" for name, entry in outputs.items())
    problem = ""
    if _OUTPUT in names_of(graph):
        problem = "its value already counts the score"
    elif score is None:
        problem = f"it has no score: its spec has no score_output; its outputs are {listed}"
    elif score not in outputs or not _may_have(outputs[score], 1):
        problem = f"score_output: expected 1 number per row, got {score!r} of the outputs {listed}"
    elif value not in outputs or value == score or not _may_have(outputs[value], size):
        problem = f"value_output: expected {size} numbers per row, got {value!r} of {listed}"
    elif spec.value_for != "mover":
        problem = f"value_for: expected 'mover', like the score, got {spec.value_for!r}"
    if problem or score is None:
        raise ModelError(f"{path}: {problem}")
    return value, score


def _value_output(spec: ModelSpec, outputs: dict[str, Any]) -> str:
    """Return the name of the value's tensor by the rules of evaluators."""
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
    """Return the numbers per row of a tensor, None if its shape is unknown."""
    sizes = [dim.dim_value for dim in entry.type.tensor_type.shape.dim[1:]]
    return None if 0 in sizes else math.prod(sizes)


def _may_have(entry: Any, size: int) -> bool:
    return _row_size(entry) in (None, size)


def _replace_value(
    graph: Any, spec: ModelSpec, value: str, score: str, *, weight: float, points: float
) -> None:
    """Replace the value output.

    KataGo's utility is an arc tangent, for which ONNX Runtime has no CUDA kernel: each batch would
    travel to the CPU and back. Softsign has the same bounds and reaches half of them at ``points``.
    """
    build = _Nodes(graph, prefix=_OUTPUT)
    won = build.node("Mul", build.scalar(spec, value), build.constant(1 - weight))
    lead = build.node("Mul", build.rows(score, 1), build.constant(1 / points))
    lead = build.node("Mul", build.node("Softsign", lead), build.constant(weight))
    build.node("Add", won, lead, output=_OUTPUT)
    index = [entry.name for entry in graph.output].index(value)
    batch = graph.output[index].type.tensor_type.shape.dim[0]
    rows = batch.dim_param or batch.dim_value or None
    helper = need("onnx", "convert").helper
    graph.output[index].CopyFrom(helper.make_tensor_value_info(_OUTPUT, FLOAT, [rows, 1]))


class _Nodes(GraphBuilder):
    def scalar(self, spec: ModelSpec, value: str) -> str:
        """Append the value as [N,1] in [-1, 1], for any kind of output."""
        rows = self.rows(value, _value_size(spec))
        if spec.value != "scalar":
            if spec.value_kind != "probs":
                rows = self.node("Softmax", rows, axis=1)
            signs = {"win": 1.0, "draw": 0.0, "loss": -1.0}
            won = self.node("MatMul", rows, self.constant([[signs[part]] for part in spec.value]))
            return self.node("Div", won, self.node("MatMul", rows, self.constant([[1.0]] * 3)))
        if spec.value_kind == "logits":
            return self.node("Tanh", rows)
        if spec.value_kind == "probs":
            doubled = self.node("Mul", rows, self.constant(2.0))
            return self.node("Add", doubled, self.constant(-1.0))
        return rows

    def rows(self, tensor: str, width: int) -> str:
        """Append a tensor as float32[N,width]."""
        wide = self.node("Cast", tensor, to=FLOAT)
        return self.node("Reshape", wide, self.constant([-1, width]))

    def constant(self, numbers: Any) -> str:
        """Append a constant, int64 for integers, else float32."""
        array = np.asarray(numbers)
        return self.weight(array.astype(np.int64 if array.dtype.kind == "i" else np.float32))
