"""Networks for Connect Four opened as on a GPU, for which the CPU stands in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyengine
from pyengine import ModelSpec, _core
from pyengine.eval import Evaluator, runtime
from tiny_models import TinyModel

SPEC = ModelSpec(planes=("own[0]", "opp[0]", "ones"), policy="logits", value="scalar")
GAME = pyengine.load_game("connect_four")
START = GAME.new_initial_state()
#: Seconds per call by rows, if time is proportional to rows.
BUSY = {rows: 1e-3 * rows for rows in range(1, 257)}
#: The same if time does not depend on rows.
WAITING = dict.fromkeys(range(1, 257), 1e-3)


def tiny(**fields: Any) -> TinyModel:
    """Describe a network whose shapes are unambiguous."""
    return TinyModel(planes=(3, 6, 7), **{"actions": 7, **fields})


def open_model(path: Path, **changed: Any) -> _core.OnnxModel:
    """Open a file on the simulated GPU; ``one_session`` serves all batches, as in TensorRT."""
    arguments = {"device_id": 0, "max_batch": 0, "threads": 0, "as_device": True}
    arguments |= {"providers": [("cpu", {})], "call_seconds": BUSY} | changed
    return _core.open_onnx(path, library=runtime.find_library(), **arguments)


def evaluator_of(*models: _core.OnnxModel, spec: ModelSpec | None = SPEC) -> Evaluator:
    return Evaluator(_core.onnx_evaluator(models, spec), spec)


def on_device(path: Path) -> Evaluator:
    return evaluator_of(open_model(path))
