"""The utility of the score: a value that also counts how far ahead a player is."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.arguments import check_type, number
from pyengine.base.extras import need
from pyengine.base.files import replacing
from pyengine.conversion.checked import open_network, source_and_target
from pyengine.conversion.onnx_graph import FLOAT, GraphBuilder, names_of
from pyengine.errors import ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec

#: The default lead that is worth half of the weight: about twice the width of Go's small board.
POINTS = 20.0

_OUTPUT = "value_with_score"
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
    A search with the copy prefers, of moves that win as often, the one that wins by more. A game
    that is over or proven still counts as won, drawn or lost alone, so the last moves of a game may
    give points away as before.

    The copy is for playing. Its values are not chances of winning, and self-play would record them.
    A value beyond the range of its kind, which evaluators refuse, may be within it in the copy: try
    the network itself first.

    Args:
        model: an ONNX file that predicts its score, or the name of a bundled network.
        out: the file to write; its other outputs and its metadata are the model's, but for what a
            conversion to int8 or float16 measured.
        weight: of the score, in [0, 1].
        points: a lead that is worth half of the weight, in [0.001, 1e6]. KataGo scales by twice the
            width of the board.
        spec: how the network reads positions; None = as :class:`pyengine.OnnxEvaluator` finds it.

    Returns:
        How the copy reads positions, which its file also contains: a scalar value for the mover, in
        the output ``value_with_score``, which takes the place of the model's own value.

    Raises:
        EngineError: the extra ``convert`` is not installed.
        ConfigError: an argument is out of range, or ``out`` cannot be written or is the model's
            own file.
        DataError: writing failed.
        ModelError: the model cannot be loaded, has no score or has this utility already, its value
            is the first player's, or which output is the value is unknown.
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
    changed = reading.replace(value="scalar", value_kind=None, value_output=_OUTPUT)
    kept = {entry.key: entry.value for entry in network.metadata_props}
    kept = {key: value for key, value in kept.items() if key not in _MEASURED}
    onnx.helper.set_model_props(network, {**kept, METADATA_KEY: changed.to_json()})
    with replacing(target) as temporary:
        temporary.write_bytes(network.SerializeToString())
        open_network(temporary, changed)
    return changed


def _outputs(spec: ModelSpec, graph: Any, path: Path) -> tuple[str, str]:
    """Return the names of value and score. Raises ModelError if the value cannot count both."""
    outputs = {entry.name: entry for entry in graph.output}
    score, value, size = spec.score_output, _value_output(spec, outputs), _value_size(spec)
    listed = ", ".join(f"{name} ({_row_size(entry)} a row)" for name, entry in outputs.items())
    problem = ""
    if _OUTPUT in names_of(graph):
        problem = "its value counts the score already"
    elif score is None:
        problem = f"it has no score: its spec has no score_output; its outputs are {listed}"
    elif score not in outputs or not _may_have(outputs[score], 1):
        problem = f"score_output: expected a number a row, got {score!r} of the outputs {listed}"
    elif value not in outputs or value == score or not _may_have(outputs[value], size):
        problem = f"value_output: expected {size} numbers a row, got {value!r} of {listed}"
    elif spec.value_for != "mover":
        problem = f"value_for: expected 'mover', as the score is, got {spec.value_for!r}"
    if problem or score is None:
        raise ModelError(f"{path}: {problem}")
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
    """Return how many numbers a row of a tensor holds; None if its shape leaves that open."""
    sizes = [dim.dim_value for dim in entry.type.tensor_type.shape.dim[1:]]
    return None if 0 in sizes else math.prod(sizes)


def _may_have(entry: Any, size: int) -> bool:
    return _row_size(entry) in (None, size)


def _replace_value(
    graph: Any, spec: ModelSpec, value: str, score: str, *, weight: float, points: float
) -> None:
    """Put the new output into the place of the value's.

    KataGo's utility is an arc tangent, for which ONNX Runtime has no kernel of CUDA: the node would
    cost a batch the way to the processor and back. The quotient has the same bounds and half.
    """
    build = _Nodes(graph, prefix=_OUTPUT)
    won = build.node("Mul", build.scalar(spec, value), build.constant(1 - weight))
    lead = build.node("Mul", build.rows(score, 1), build.constant(1 / points))
    lead = build.node("Mul", build.node("Softsign", lead), build.constant(weight))
    build.node("Add", won, lead, output=_OUTPUT)
    place = [entry.name for entry in graph.output].index(value)
    batch = graph.output[place].type.tensor_type.shape.dim[0]
    rows = batch.dim_param or batch.dim_value or None
    helper = need("onnx", "convert").helper
    graph.output[place].CopyFrom(helper.make_tensor_value_info(_OUTPUT, FLOAT, [rows, 1]))


class _Nodes(GraphBuilder):
    def scalar(self, spec: ModelSpec, value: str) -> str:
        """Return a tensor [N,1] of the value in [-1, 1], whatever the output's kind."""
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
            twice = self.node("Mul", rows, self.constant(2.0))
            return self.node("Add", twice, self.constant(-1.0))
        return rows

    def rows(self, tensor: str, width: int) -> str:
        """Return a tensor as float32[N,width]."""
        wide = self.node("Cast", tensor, to=FLOAT)
        return self.node("Reshape", wide, self.constant([-1, width]))

    def constant(self, numbers: Any) -> str:
        """Add a tensor, int64 of integers and else float32; return its name."""
        array = np.asarray(numbers)
        return self.weight(array.astype(np.int64 if array.dtype.kind == "i" else np.float32))
