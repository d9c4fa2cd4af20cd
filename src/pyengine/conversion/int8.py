"""Static int8 quantisation of a network, calibrated on its own games and checked in play."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from pyengine.base.extras import need
from pyengine.conversion.checked import Baseline, ConversionReport, Converted, convert
from pyengine.conversion.comparison import CheckOptions
from pyengine.conversion.onnx_graph import (
    batches,
    dependents,
    free,
    heads,
    keep_metadata,
    layers_of,
    open_session,
    prepare,
    quiet,
    save_model,
    without_outputs,
)
from pyengine.conversion.positions import Floats
from pyengine.errors import ModelError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

_SPEED_ROUNDS = 9
_SPEED_CALLS = 8


def quantise(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game | str,
    **options: Unpack[CheckOptions],
) -> ConversionReport:
    """Convert a network to int8; write it if it evaluates, chooses and plays as the original does.

    Weights are signed and scaled per channel, activations unsigned, in ONNX's QDQ form. The first
    convolution, the sums of residual blocks and the heads stay in float32: they are a few percent
    of the work and most of the error.

    Args:
        model: a float32 ONNX file, or the name of a bundled network.
        out: the file to write, with the interface and metadata of the model.
        game: one of the engine's games, or its text form.
        spec: how the network reads positions; default: as :class:`pyengine.OnnxEvaluator` does.
        positions: to calibrate on, and the same number to compare on, at least 32, default 1000.
            Fewer if the game has fewer distinct positions.
        games: most games of the match, default 800; 0 = no match. It ends as soon as the games
            show that the network is weaker by less than ``limits.margin`` (passed), or more likely
            weaker by the margin than equal (failed). For 50 Elo that takes about 270 games without
            draws, fewer with draws.
        simulations: simulations per move of the match, default 32.
        match_seconds: time limit of the match, default 600.
        seed: seed of all random choices, default 0.
        limits: limits of the checks, default ``Limits()``.
        write_undecided: also write a network whose match is undecided, default False; it may be
            weaker by the margin or more.
        on_progress: a function of a stage and its progress, default None.

    Raises:
        EngineError: the extra ``convert`` is not installed.
        ConfigError: an argument is out of range, ``out`` cannot be written or is a file of the
            model, or the game has too few distinct positions.
        ModelError: the model cannot be loaded, does not fit the game, has no convolution to
            convert, or is not float32.
        EvaluationError: the network returns non-finite numbers, or an ownership beyond [-1, 1].
        KeyboardInterrupt: after Ctrl-C; nothing is written.
    """
    return convert("int8", _convert, model, out, game, options)


def _convert(baseline: Baseline, file: Path, planes: Floats) -> Converted:
    converted = write_int8(baseline.source, file, [planes], baseline.spec)
    return replace(converted, speedup=_speedup(baseline.source, file, planes))


def _speedup(original: Path, converted: Path, planes: Floats) -> float:
    """Return the median ratio of speeds in bare ONNX Runtime, measured alternately."""
    seconds: dict[Path, list[float]] = {original: [], converted: []}
    sessions = {path: open_session(str(path), threads=1) for path in seconds}
    entry = sessions[original].get_inputs()[0]
    batch = next(batches(planes, (8, *entry.shape[1:]) if free(entry.shape[0]) else entry.shape))
    for _ in range(_SPEED_ROUNDS):
        for path, session in sessions.items():
            start = time.process_time()
            for _ in range(_SPEED_CALLS):
                session.run(None, {entry.name: batch})
            seconds[path].append(time.process_time() - start)
    pairs = zip(seconds[original], seconds[converted], strict=True)
    return float(np.median([slow / fast for slow, fast in pairs if fast > 0] or [np.nan]))


def write_int8(
    source: Path,
    target: Path,
    planes: Sequence[Floats],
    spec: ModelSpec,
    *,
    without: Sequence[str] = (),
) -> Converted:
    """Write the int8 file of a float32 network.

    Leaves a simplified copy of the network beside the file, as ``prepared.onnx``.

    Args:
        source: the network's file.
        target: the file to write.
        planes: planes to calibrate on, float32[N,C,H,W] per board.
        spec: how the network reads positions, written to the file.
        without: outputs of the network to leave out.

    Raises:
        ModelError: the network has no convolution to convert.
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
            f"got none among {len(convolutions)}"
        )
    with quiet():
        tools.quantize_static(
            str(prepared),
            str(target),
            _Reader(name, (batch for board in planes for batch in batches(board, shape))),
            quant_format=tools.QuantFormat.QDQ,
            # Quantising each Relu together with its convolution frees the sign bit of the
            # activations.
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
    return Converted(target, len(quantised), len(convolutions) - len(quantised))


def float_nodes(model: Any) -> set[str]:
    """Return the nodes to leave in float32: the layers that read the planes, and the heads."""
    layers = layers_of(model.graph.node)
    return (layers - dependents(model.graph.node, layers)) | heads(model.graph)


@dataclass
class _Reader:
    """A CalibrationDataReader of the quantiser."""

    name: str
    batches: Iterator[Floats]

    def get_next(self) -> dict[str, Floats] | None:
        batch = next(self.batches, None)
        return None if batch is None else {self.name: batch}
