"""The ONNX file of a network before and after a conversion, and what its input is given."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.conversion.onnx_graph import check_input, name_nodes
from pyengine.eval.spec import METADATA_KEY, ModelSpec

__all__ = [
    "BATCH",
    "CPU",
    "batches",
    "free",
    "keep_metadata",
    "prepare",
    "quiet",
    "without_outputs",
    "without_weights",
]

CPU = "CPUExecutionProvider"
BATCH = 32  #: rows of a call on the sampled positions


def prepare(source: Path, file: Path) -> tuple[Any, str, tuple[int | str, ...]]:
    """Write a network simplified; return it as an ONNX model, name and shape of its input.

    ONNX Runtime folds normalisations and scales into the convolutions and infers shapes; each node
    has a name of its own. Raises ModelError where the network is not float32.
    """
    onnx = need("onnx", "convert")
    shapes = need("onnxruntime.quantization.shape_inference", "convert")
    with quiet():
        shapes.quant_pre_process(str(source), str(file), skip_symbolic_shape=True)
    model = onnx.load(file)
    name_nodes(model)
    onnx.save(model, file)
    return model, *check_input(model, source)


def keep_metadata(source: Path, model: Any, spec: ModelSpec) -> None:
    """Give a model the metadata of a file, and how it reads positions."""
    onnx = need("onnx", "convert")
    metadata = {entry.key: entry.value for entry in without_weights(source).metadata_props}
    onnx.helper.set_model_props(model, {**metadata, METADATA_KEY: spec.to_json()})


def without_outputs(model: Any, names: Sequence[str]) -> Any:
    """Return a model without outputs and what only they need: ONNX Runtime would compute it."""
    if not names:
        return model
    inputs = [entry.name for entry in model.graph.input]
    kept = [entry.name for entry in model.graph.output if entry.name not in names]
    return need("onnx.utils", "convert").Extractor(model).extract_model(inputs, kept)


def without_weights(source: Path) -> Any:
    """Load a model without the weights that other files hold."""
    return need("onnx", "convert").load(source, load_external_data=False)


def batches(
    planes: npt.NDArray[np.float32], shape: Sequence[int | str]
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield whole batches as the input has them: a fixed size, flat where it has two dimensions."""
    rows = BATCH if free(shape[0]) else int(shape[0])
    if len(planes) < rows:
        planes = np.resize(planes, (rows, *planes.shape[1:]))  # repeats them
    for start in range(0, len(planes) - rows + 1, rows):
        batch = planes[start : start + rows]
        yield batch.reshape(rows, -1) if len(shape) == 2 else batch


def free(size: object) -> bool:
    """Whether a dimension of a tensor may have any size."""
    return not (isinstance(size, int) and size > 0)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep ONNX Runtime's advice to itself while it works."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)
