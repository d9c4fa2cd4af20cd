"""Limits and changed models for the tests of conversions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyengine.conversion import Limits

GAME = "go(board_size=5)"
NOTHING = Limits(  # no conversion passes
    policy_mean=0, policy_99=0, value_mean=0, agreement=1.1, regret=-1, turned=0
)
ANYTHING = Limits(policy_mean=1, policy_99=1, value_mean=2, agreement=0, regret=1)
QUICK: dict[str, Any] = {"positions": 32, "games": 0}


def changed(network: Path, path: Path, change: Callable[[Any], object]) -> Path:
    """Write a changed copy of a model."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    model = onnx.load(network)
    change(model)
    onnx.save(model, path)
    return path


def fix_batch(model: Any) -> None:
    """Fix the batch of a model to 4 rows."""
    for entry in (*model.graph.input, *model.graph.output):
        entry.type.tensor_type.shape.dim[0].dim_value = 4
