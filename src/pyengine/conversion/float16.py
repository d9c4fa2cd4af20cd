"""Networks in float16, which GPUs compute faster, checked in play as int8 networks are."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base import machine
from pyengine.base.extras import need
from pyengine.conversion.checked import (
    Baseline,
    ConversionReport,
    OnProgress,
    Options,
    Samples,
    convert,
    open_network,
)
from pyengine.conversion.comparison import LimitCheck, Limits
from pyengine.conversion.float16_graph import float32_nodes, half_tensors, rounded, to_half
from pyengine.conversion.onnx_graph import (
    CPU,
    FLOAT,
    HALF,
    INT8,
    LAYERS,
    GraphBuilder,
    batches,
    keep_metadata,
    prepare,
    save_model,
)
from pyengine.errors import ModelError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

_MAX_FLOAT16 = 65504.0  # [IEEE 754, binary16]
#: What activations may reach on the sampled positions: others may reach further.
_MAX_ACTIVATION = _MAX_FLOAT16 / 2
_GRAPHS = (5, 10)  # AttributeProto.GRAPH, GRAPHS


def to_float16(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game | str,
    *,
    spec: ModelSpec | None = None,
    positions: int = 1000,
    games: int = 800,
    simulations: int = 32,
    match_seconds: float = 600.0,
    seed: int = 0,
    limits: Limits | None = None,
    write_undecided: bool = False,
    on_progress: OnProgress | None = None,
) -> ConversionReport:
    """Convert a network to float16; write it if it passes the checks of :func:`quantise`.

    Arguments and errors are those of :func:`quantise`; a model with branches or loops, or without
    a layer before its heads, is a ModelError, too.

    The file is for GPUs; a CPU is no faster with it. The tower is float16. So is the input if the
    planes hold more than -1, 0 and 1; else it is int8, which the network widens. In float32 stay
    sums over the board, softmax, the matrix products of the heads, the last layer before each
    output, what follows on these, and the outputs. Two more figures must hold: the largest weight
    is at most 65504, the largest number of float16, and the largest activation at most half of
    that.

    The checks run on the CPU. ONNX Runtime computes float16 there in float32 and rounds seldom, so
    what is checked is a float32 network that rounds every result to float16, as a device does that
    accumulates in float32. ``pyengine doctor --gpu`` compares a device with the CPU.
    """
    options = Options(
        spec=spec,
        positions=positions,
        games=games,
        simulations=simulations,
        match_seconds=match_seconds,
        seed=seed,
        limits=limits,
        write_undecided=write_undecided,
        on_progress=on_progress,
    )
    return convert("float16", _convert, model, out, game, options)


def _convert(baseline: Baseline, file: Path, samples: Samples) -> ConversionReport:
    """Convert into a file and measure it; the report has no path yet."""
    baseline.progress("calibration", 0.0)
    model, _, shape = prepare(baseline.source, file.with_name("prepared.onnx"))
    check_no_branches(model, baseline.source)
    kept = float32_nodes(model)
    converted, left = _layers(model, kept, baseline.source)
    checks = _range_checks(model, kept, samples, shape)
    baseline.progress("calibration", 1.0)
    comparison = result = None
    if all(check.passed for check in checks):
        rounding = _write(baseline, model, kept, file)
        # It must open and answer here too, where it is not what is compared.
        open_network(file, baseline.reading).evaluate(samples.comparison[:1], game=baseline.game)
        comparison, more = baseline.compare(rounding, samples)
        baseline.progress("comparison", 1.0)
        checks += more
        result, more = baseline.match(rounding, checks)
        checks += more
    return ConversionReport(
        path=None,
        checks=tuple(checks),
        calibrated=len(samples.planes),
        comparison=comparison,
        match=result,
        converted=converted,
        kept=left,
    )


def check_no_branches(model: Any, path: Path) -> None:
    """Raise ModelError if a node has graphs of its own (If, Loop, Scan)."""
    for node in model.graph.node:
        if any(attribute.type in _GRAPHS for attribute in node.attribute):
            raise ModelError(
                f"{path}: expected a network without branches and loops, got {node.op_type}"
            )


def _layers(model: Any, kept: set[str], source: Path) -> tuple[int, int]:
    """Return how many layers become float16, at least one, and how many stay in float32."""
    layers = [node.name for node in model.graph.node if node.op_type in LAYERS]
    left = sum(name in kept for name in layers)
    if left == len(layers):
        raise ModelError(
            f"{source}: expected layers before the heads to convert, "
            f"got none among {left} that need not stay in float32"
        )
    return len(layers) - left, left


def _range_checks(
    model: Any, kept: set[str], samples: Samples, shape: tuple[int | str, ...]
) -> list[LimitCheck]:
    """Check that weights and activations fit into float16."""
    weights, tensors = half_tensors(model, kept)
    activations = _largest_results(model, tensors, batches(samples.planes, shape))
    return [
        range_check("weight, max", _largest_weights(model, weights), _MAX_FLOAT16),
        range_check("activation, max", activations, _MAX_ACTIVATION),
    ]


def range_check(name: str, largest: dict[str, float], limit: float) -> LimitCheck:
    """Check the largest numbers of some tensors; NaN fails."""

    def size(tensor: str) -> float:
        return math.inf if math.isnan(largest[tensor]) else largest[tensor]

    worst = max(largest, key=size, default="")
    measured = largest.get(worst, 0.0)
    detail = f"tensor {worst}; float16 ends at 65504"
    return LimitCheck.of(name, measured, limit, measured <= limit, detail)


def _largest_weights(model: Any, names: Collection[str]) -> dict[str, float]:
    """Return the largest absolute value of each of the named weights, infinity left out."""
    to_array = need("onnx", "convert").numpy_helper.to_array
    largest = {}
    for tensor in model.graph.initializer:
        if tensor.name in names:
            sizes = np.abs(to_array(tensor))
            largest[tensor.name] = float(sizes[~np.isinf(sizes)].max(initial=0.0))
    return largest


def _largest_results(
    model: Any, names: Sequence[str], inputs: Iterable[npt.NDArray[np.float32]]
) -> dict[str, float]:
    """Return the largest absolute value of each of the named tensors of a float32 model."""
    onnx, runtime = need("onnx", "convert"), need("onnxruntime", "convert")
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    outputs = [f"{name}.largest" for name in names]
    build = GraphBuilder(watched.graph)
    for name, output in zip(names, outputs, strict=True):
        sizes = build.node("Abs", name, output=f"{output}.sizes")
        build.node("ReduceMax", sizes, output=output, keepdims=0)
        watched.graph.output.append(onnx.helper.make_tensor_value_info(output, FLOAT, []))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = machine.cores()
    options.log_severity_level = 3
    session = runtime.InferenceSession(watched.SerializeToString(), options, providers=[CPU])
    planes = session.get_inputs()[0].name
    rows = [session.run(outputs, {planes: batch}) for batch in inputs]
    return dict(zip(names, np.max(rows, axis=0).astype(float).tolist(), strict=True))


def write_half(
    model: Any, kept: set[str], file: Path, source: Path, reading: ModelSpec, game: Game
) -> set[str]:
    """Turn a prepared model into float16 and write it with the metadata of its source, unchecked.

    Returns the names of the float16 tensors but the weights.
    """
    half = to_half(model, kept, INT8 if _core.fits_int8(game, reading) else HALF)
    keep_metadata(source, model, reading)
    save_model(model, file)
    return half


def _write(baseline: Baseline, model: Any, kept: set[str], file: Path) -> Path:
    """Write the float16 network, and beside it one that rounds as it does; return the latter."""
    half = write_half(model, kept, file, baseline.source, baseline.reading, baseline.game)
    rounding = file.with_name("rounded.onnx")
    rounded(model, half)
    save_model(model, rounding)
    return rounding
