"""Small ONNX files made on the spot: a linear policy and a linear value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@dataclass
class TinyModel:
    """What a file says and computes; ``write`` makes it."""

    planes: tuple[int, int, int] = (3, 3, 3)  # C, H, W
    actions: int = 9
    value_size: int = 1
    batch: int | str = "N"
    dtype: Any = np.float32
    int8_input: bool = False  # the model casts it
    flat_input: bool = False
    names: tuple[str, str, str] = ("planes", "policy", "value")
    extra_output: bool = False
    nan: str = ""  # name of an output that holds NaN
    metadata: dict[str, str] = field(default_factory=dict)
    declared_policy: Sequence[int | str] | None = None
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
        """Return what the file computes, in float64."""
        rows = planes.reshape(len(planes), -1).astype(np.float64)
        policy, value = self.weights()
        return rows @ policy.astype(np.float64), np.tanh(rows @ value.astype(np.float64))

    def write(self, path: Path) -> Path:
        """Write the file; skip the test where the package onnx is absent."""
        onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
        helper, kinds = onnx.helper, onnx.TensorProto
        kind = kinds.FLOAT if self.dtype == np.float32 else kinds.FLOAT16
        given = kinds.INT8 if self.int8_input else kind
        planes, policy, value = self.names
        weights = dict(zip(("wp", "wv"), self.weights(), strict=True))
        nodes = [
            helper.make_node("Cast", [planes], ["numbers"], to=kind),
            helper.make_node("Flatten", ["numbers"], ["flat"]),
            helper.make_node("MatMul", ["flat", "wp"], [policy]),
            helper.make_node("MatMul", ["flat", "wv"], ["before_tanh"]),
            helper.make_node("Tanh", ["before_tanh"], [value]),
        ]
        shape = [int(np.prod(self.planes))] if self.flat_input else list(self.planes)
        declared = self.declared_policy or [self.batch, self.actions]
        outputs = [
            helper.make_tensor_value_info(policy, kind, declared),
            helper.make_tensor_value_info(value, kind, [self.batch, self.value_size]),
        ]
        if self.extra_output:
            nodes.append(helper.make_node("Neg", ["before_tanh"], ["moves_left"]))
            outputs.append(helper.make_tensor_value_info("moves_left", kind, [self.batch, 1]))
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(planes, given, [self.batch, *shape])],
            outputs,
            [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        helper.set_model_props(model, self.metadata)
        path.write_bytes(model.SerializeToString())
        return path
