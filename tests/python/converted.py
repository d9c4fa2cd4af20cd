"""What the tests of conversions share: limits and changes of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyengine.conversion import Limits

GAME = "go(board_size=5)"
NOTHING = Limits(
    policy_mean=0, policy_99=0, value_mean=0, agreement=1.1, regret=-1, turned=0
)  # that any conversion can keep
ANYTHING = Limits(policy_mean=1, policy_99=1, value_mean=2, agreement=0, regret=1)
QUICK: dict[str, Any] = {"positions": 32, "games": 0}


def changed(network: Path, path: Path, change: Callable[[Any], object]) -> Path:
    """Write a copy of a model after a change."""
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    model = onnx.load(network)
    change(model)
    onnx.save(model, path)
    return path


def fix_batch(model: Any) -> None:
    """Give inputs and outputs of a model a batch of 4 rows."""
    for entry in (*model.graph.input, *model.graph.output):
        entry.type.tensor_type.shape.dim[0].dim_value = 4
