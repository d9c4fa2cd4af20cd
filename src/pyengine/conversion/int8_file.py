"""The int8 file of a network: static quantisation, calibrated on given planes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.conversion.leela_onnx import save_model
from pyengine.conversion.model_file import (
    batches,
    keep_metadata,
    prepare,
    quiet,
    without_outputs,
)
from pyengine.conversion.onnx_graph import float_nodes
from pyengine.errors import ModelError
from pyengine.eval.spec import ModelSpec

__all__ = ["write_int8"]


def write_int8(
    source: Path,
    target: Path,
    planes: Sequence[npt.NDArray[np.float32]],
    spec: ModelSpec,
    *,
    without: Sequence[str] = (),
) -> tuple[int, int]:
    """Write the int8 file of a float32 network.

    A simplified copy of the network is left beside the file, as ``prepared.onnx``.

    Args:
        source: the network's file.
        target: the file to write.
        planes: to calibrate on, float32[N,C,H,W] of each board.
        spec: how the network reads positions, which the file will say.
        without: outputs of the network that the file will not have.

    Returns:
        How many convolutions are in int8, and how many stay in float32.

    Raises:
        ModelError: the network has no convolution to convert, or is not float32.
    """
    onnx = need("onnx", "convert")
    tools = need("onnxruntime.quantization", "convert")
    prepared = target.with_name("prepared.onnx")
    model, name, shape = prepare(source, prepared)
    excluded = float_nodes(model)
    convolutions = [node.name for node in model.graph.node if node.op_type == "Conv"]
    quantised = [conv for conv in convolutions if conv not in excluded]
    if not quantised:
        raise ModelError(
            f"{source}: expected convolutions between the first one and the heads, "
            f"found none among {len(convolutions)}"
        )
    with quiet():
        tools.quantize_static(
            str(prepared),
            str(target),
            _Reader(name, (batch for each in planes for batch in batches(each, shape))),
            quant_format=tools.QuantFormat.QDQ,
            # Relu belongs to its convolution: unsigned activations then lose no bit to a sign.
            op_types_to_quantize=["Conv", "Relu"],
            nodes_to_exclude=sorted(excluded),
            per_channel=True,
            activation_type=tools.QuantType.QUInt8,
            weight_type=tools.QuantType.QInt8,
            calibrate_method=tools.CalibrationMethod.MinMax,
        )
    model = without_outputs(onnx.load(target), without)
    keep_metadata(source, model, spec)
    save_model(model, target)
    return len(quantised), len(convolutions) - len(quantised)


class _Reader:
    """What the quantiser takes as a CalibrationDataReader: batches by the input's name."""

    def __init__(self, name: str, batches: Iterator[npt.NDArray[np.float32]]) -> None:
        self._name = name
        self._batches = batches

    def get_next(self) -> dict[str, npt.NDArray[np.float32]] | None:
        """Return the next batch, None at the end."""
        batch = next(self._batches, None)
        return None if batch is None else {self._name: batch}
