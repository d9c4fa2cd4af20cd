"""Small ONNX files with a linear policy and a linear value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DEFAULT = {"pyengine.spec": "{}"}  #: metadata with the default ModelSpec


@dataclass
class TinyModel:
    """A description of an ONNX file; ``write`` creates it."""

    planes: tuple[int, int, int] = (3, 3, 3)  # C, H, W
    actions: int = 9
    value_size: int = 1
    batch: int | str = "N"
    dtype: Any = np.float32
    int8_input: bool = False  # cast by the model
    flat_input: bool = False
    names: tuple[str, str, str] = ("planes", "policy", "value")
    extra_output: bool = False
    nan: str = ""  # name of an output that is NaN
    metadata: dict[str, str] = field(default_factory=dict)
    declared_policy: Sequence[int | str] | None = None
    policy_ends: tuple[str, ...] = ()  # operators after the policy's matrix product
    value_ends: tuple[str, ...] = ("Tanh",)
    seed: int = 7

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices of policy and value."""
        rng = np.random.default_rng(self.seed)
        size = int(np.prod(self.planes))
        policy = rng.normal(size=(size, self.actions)).astype(self.dtype)
        value = rng.normal(size=(size, self.value_size)).astype(self.dtype)
        if self.nan:
            (policy if self.nan == self.names[1] else value)[:] = np.nan
        return policy, value

    def outputs(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs of the file, in float64."""
        rows = planes.reshape(len(planes), -1).astype(np.float64)
        policy, value = self.weights()
        return rows @ policy.astype(np.float64), np.tanh(rows @ value.astype(np.float64))

    def write(self, path: Path) -> Path:
        """Write the file; skip the test if the package onnx is missing."""
        onnx = pytest.importorskip("onnx", reason="the test models need the package onnx")
        helper, kinds = onnx.helper, onnx.TensorProto
        kind = kinds.FLOAT if self.dtype == np.float32 else kinds.FLOAT16
        input_kind = kinds.INT8 if self.int8_input else kind
        planes, policy, value = self.names
        weights = dict(zip(("wp", "wv"), self.weights(), strict=True))
        nodes = [
            helper.make_node("Cast", [planes], ["numbers"], to=kind),
            helper.make_node("Flatten", ["numbers"], ["flat"]),
            helper.make_node("MatMul", ["flat", "wp"], [_start(self.policy_ends, policy)]),
            *_chain(helper, policy, self.policy_ends, kind),
            helper.make_node("MatMul", ["flat", "wv"], [_start(self.value_ends, value)]),
            *_chain(helper, value, self.value_ends, kind),
        ]
        shape = [int(np.prod(self.planes))] if self.flat_input else list(self.planes)
        declared = self.declared_policy or [self.batch, self.actions]
        outputs = [
            helper.make_tensor_value_info(policy, kind, declared),
            helper.make_tensor_value_info(value, kind, [self.batch, self.value_size]),
        ]
        if self.extra_output:
            nodes.append(helper.make_node("Neg", [f"before_{value}"], ["moves_left"]))
            outputs.append(helper.make_tensor_value_info("moves_left", kind, [self.batch, 1]))
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(planes, input_kind, [self.batch, *shape])],
            outputs,
            [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        helper.set_model_props(model, self.metadata)
        path.write_bytes(model.SerializeToString())
        return path


def _start(ends: Sequence[str], output: str) -> str:
    """Return the name of the first tensor of a chain of operators."""
    return f"before_{output}" if ends else output


def _chain(helper: Any, output: str, ends: Sequence[str], kind: int) -> list[Any]:
    """Return nodes that apply the operators in order."""
    names = [_start(ends, output), *(f"{output}.{n}" for n in range(1, len(ends))), output]
    return [
        helper.make_node(op, [source], [target], **({"to": kind} if op == "Cast" else {}))
        for op, source, target in zip(ends, names, names[1:], strict=False)
    ]
