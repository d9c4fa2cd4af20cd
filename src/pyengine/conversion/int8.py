"""Static int8 quantisation of a network, calibrated on its own games and checked in play."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.conversion.checked_conversion import (
    Baseline,
    ConversionReport,
    OnProgress,
    Options,
    Samples,
    convert,
)
from pyengine.conversion.comparison import Comparison, Limits
from pyengine.conversion.int8_file import write_int8
from pyengine.conversion.model_file import CPU, batches, free
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game
from pyengine.match import MatchResult

__all__ = ["Int8Report", "quantise"]

_SPEED_ROUNDS = 9
_SPEED_CALLS = 8


@dataclass(frozen=True)
class Int8Report(ConversionReport):
    """What a conversion to int8 gave.

    Attributes:
        path: the file; None when the checks kept it from being written.
        checks: each figure and its limit.
        calibrated: positions that calibration has seen, under random symmetries of the board.
        comparison: both networks on positions of other games, none of which calibration has seen,
            under no symmetry.
        match: the games, from the int8 network's side; None when none were asked for.
        quantised: convolutions in int8.
        kept: convolutions left in float32.
        speedup: positions a second, int8 ÷ float32, in bare ONNX Runtime: batches of 8, one
            thread, median.
    """

    calibrated: int
    comparison: Comparison
    match: MatchResult | None
    quantised: int
    kept: int
    speedup: float


def quantise(
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
) -> Int8Report:
    """Convert a network to int8; write it if it evaluates, chooses and plays as the original does.

    Weights are signed and scaled per channel, activations unsigned, in ONNX's QDQ form.
    The convolution that reads the planes, the sums of residual blocks and the heads stay in
    float32: they are a few percent of the work and most of the error.

    Args:
        model: an ONNX file, float32, or the name of a bundled network.
        out: the file to write; its interface and metadata are the model's.
        game: one of the engine's games, or its text form.
        spec: how the network reads positions; None = as :class:`pyengine.OnnxEvaluator` finds it.
        positions: to calibrate on, and as many others to compare on; at least 32. Fewer where the
            game has fewer distinct ones.
        games: of the match, at most; 0 = none, and the figures alone decide. It ends as soon as
            they show that the network is weaker by less than ``limits.margin`` (passed), or that
            it is likelier weaker by the margin than equal (failed). For 50 Elo that takes about
            270 games on average without draws, fewer with them.
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
        ModelError: the model cannot be loaded, does not fit the game, has no convolution to
            convert, or is not float32.
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
    return convert("int8", _convert, model, out, game, options)


def _convert(baseline: Baseline, file: Path, samples: Samples) -> Int8Report:
    """Convert into a file and measure what came of it; the report has no path yet."""
    baseline.tell("calibration", 0.0)
    quantised, kept = write_int8(baseline.source, file, [samples.planes], baseline.reading)
    baseline.tell("calibration", 1.0)
    comparison, checks = baseline.compare(file, samples)
    speedup = _speedup(baseline.source, file, samples.planes)
    baseline.tell("comparison", 1.0)
    result, more = baseline.match(file, checks)
    calibrated = len(samples.planes)
    return Int8Report(
        None, (*checks, *more), calibrated, comparison, result, quantised, kept, speedup
    )


def _speedup(original: Path, converted: Path, planes: npt.NDArray[np.float32]) -> float:
    """Return the median ratio of speeds in bare ONNX Runtime, measured in turn."""
    runtime = need("onnxruntime", "convert")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    seconds: dict[Path, list[float]] = {original: [], converted: []}
    sessions = {
        path: runtime.InferenceSession(str(path), options, providers=[CPU]) for path in seconds
    }
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
