"""Networks in float16, which GPUs compute faster, checked in play as int8 networks are."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.conversion.checked_conversion import (
    Baseline,
    ConversionReport,
    OnProgress,
    Options,
    Samples,
    convert,
    open_network,
)
from pyengine.conversion.comparison import Comparison, LimitCheck, Limits, Outcome
from pyengine.conversion.float16_graph import HALF, INT8, float32_nodes, half_tensors, to_half
from pyengine.conversion.float16_range import (
    MAX_FLOAT16,
    largest_results,
    largest_weights,
    rounded,
)
from pyengine.conversion.leela_onnx import save_model
from pyengine.conversion.model_file import batches, keep_metadata, prepare
from pyengine.conversion.onnx_graph import LAYERS, check_no_branches
from pyengine.errors import ModelError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game
from pyengine.match import MatchResult

__all__ = ["Float16Report", "to_float16"]

#: What activations may reach on the sampled positions: others may reach further.
_MAX_ACTIVATION = MAX_FLOAT16 / 2


@dataclass(frozen=True)
class Float16Report(ConversionReport):
    """What a conversion to float16 gave.

    Attributes:
        path: the file; None when the checks kept it from being written.
        checks: each figure and its limit.
        calibrated: positions on which the activations were measured, under random symmetries of
            the board.
        comparison: both networks on positions of other games, under no symmetry; None when the
            numbers do not fit into float16.
        match: the games, from the float16 network's side; None when none were asked for.
        converted: layers (convolutions, matrix products) in float16.
        kept: layers left in float32.
    """

    calibrated: int
    comparison: Comparison | None
    match: MatchResult | None
    converted: int
    kept: int


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
) -> Float16Report:
    """Convert a network to float16; write it if its checks let it pass, those of :func:`quantise`.

    The file is for GPUs; a CPU is no faster with it. The tower is float16. So is the input where
    the planes hold more than -1, 0 and 1; else it is int8, which the network widens. In float32
    stay sums over the board, softmax, the matrix products of the heads, the last layer before each
    output, what follows on these, and the outputs. Two more figures must hold: the largest weight
    is at most 65504, the largest number of float16, and the largest activation at most half of
    that.

    The checks run on the CPU. ONNX Runtime computes float16 there in float32 and rounds seldom, so
    what is checked is a float32 network that rounds every result to float16, as a device does that
    accumulates in float32. Whether a device agrees says ``pyengine doctor --gpu``.

    Args:
        model: an ONNX file, float32, or the name of a bundled network.
        out: the file to write; its shapes and metadata are the model's.
        game: one of the engine's games, or its text form.
        spec: how the network reads positions; None = as :class:`pyengine.OnnxEvaluator` finds it.
        positions: to measure the activations on, and as many others to compare on; at least 32.
            Fewer where the game has fewer distinct ones.
        games: of the match, at most; 0 = none, and the figures alone decide.
        simulations: a move in the match.
        match_seconds: after which the match ends with the games it has.
        seed: of all choices.
        limits: of the checks.
        write_undecided: write the network too where the match has not decided, since it may be
            weaker by the margin or more.
        on_progress: called with a stage and how much of it is done.

    Raises:
        EngineError: the extra ``convert`` is not installed.
        ConfigError: an argument is out of range, ``out`` cannot be written or is the model's own
            file, or the game has too few distinct positions.
        ModelError: the model cannot be loaded, does not fit the game, is not float32 (it may be
            float16 already), has branches or loops, or no layer but those that stay in float32.
        EvaluationError: it says numbers that are none, or an ownership beyond [-1, 1].
        KeyboardInterrupt: after Ctrl-C; nothing is written.
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


def _convert(baseline: Baseline, file: Path, samples: Samples) -> Float16Report:
    """Convert into a file and measure what came of it; the report has no path yet."""
    baseline.tell("calibration", 0.0)
    model, _, shape = prepare(baseline.source, file.with_name("prepared.onnx"))
    check_no_branches(model, baseline.source)
    kept = float32_nodes(model)
    layers = _layers(model, kept, baseline.source)
    checks = _range_checks(model, kept, samples, shape)
    baseline.tell("calibration", 1.0)
    calibrated = len(samples.planes)
    if not all(check.passed for check in checks):
        return Float16Report(None, tuple(checks), calibrated, None, None, *layers)
    rounding = _write(baseline, model, kept, file)
    # It must open and answer here too, where it is not what is compared.
    open_network(file, baseline.reading).evaluate(samples.comparison[:1], game=baseline.game)
    comparison, more = baseline.compare(rounding, samples)
    baseline.tell("comparison", 1.0)
    checks += more
    result, more = baseline.match(rounding, checks)
    return Float16Report(None, (*checks, *more), calibrated, comparison, result, *layers)


def _layers(model: Any, kept: set[str], source: Path) -> tuple[int, int]:
    """Return how many layers become float16, at least one, and how many stay in float32."""
    layers = [node.name for node in model.graph.node if node.op_type in LAYERS]
    converted = [name for name in layers if name not in kept]
    if not converted:
        raise ModelError(
            f"{source}: expected layers before the heads to convert, "
            f"found none among {len(layers)} that need not stay in float32"
        )
    return len(converted), len(layers) - len(converted)


def _range_checks(
    model: Any, kept: set[str], samples: Samples, shape: tuple[int | str, ...]
) -> list[LimitCheck]:
    """Return whether weights and activations fit into float16."""
    weights, tensors = half_tensors(model, kept)
    activations = largest_results(model, tensors, batches(samples.planes, shape))
    return [
        _range_check("weight, max", largest_weights(model, weights), MAX_FLOAT16),
        _range_check("activation, max", activations, _MAX_ACTIVATION),
    ]


def _range_check(name: str, largest: dict[str, float], limit: float) -> LimitCheck:
    def size(tensor: str) -> float:
        return math.inf if math.isnan(largest[tensor]) else largest[tensor]

    worst = max(largest, key=size, default="")
    measured = largest.get(worst, 0.0)
    outcome: Outcome = "passed" if measured <= limit else "failed"  # NaN fails
    return LimitCheck(name, measured, limit, outcome, f"tensor {worst}; float16 ends at 65504")


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
