"""Static int8 quantisation of a network, calibrated on its own games and checked in play."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine import machine
from pyengine.arguments import check_callback, check_type, number
from pyengine.conversion.checks import (
    Check,
    Comparison,
    Limits,
    Outcome,
    compare,
    play_match,
    turned,
)
from pyengine.conversion.graph import check_input, float_nodes, name_nodes
from pyengine.conversion.leela_onnx import save_model
from pyengine.conversion.positions import longest_game, observe, play_positions
from pyengine.errors import ConfigError, ModelError
from pyengine.evaluators import OnnxEvaluator
from pyengine.extras import need
from pyengine.files import check_output, path_of
from pyengine.games import Game, State, as_game, load_game
from pyengine.integers import integer
from pyengine.match import MatchResult
from pyengine.spec import METADATA_KEY, ModelSpec

__all__ = ["GATE_KEY", "Int8Report", "quantise"]

#: The metadata key under which a converted network keeps what the checks measured, as JSON.
GATE_KEY = "pyengine.int8"

_CPU = "CPUExecutionProvider"
_CALIBRATION_BATCH = 32
_TURNED_POSITIONS = 200  # times the symmetries
_SPEED_ROUNDS = 9
_SPEED_CALLS = 8

#: Called with a stage ("games", "calibration", "comparison", "match") and how much of it is done,
#: 0 to 1.
OnProgress = Callable[[str, float], object]


@dataclass(frozen=True)
class Int8Report:
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

    path: Path | None
    checks: tuple[Check, ...]
    calibrated: int
    comparison: Comparison
    match: MatchResult | None
    quantised: int
    kept: int
    speedup: float

    @property
    def outcome(self) -> Outcome:
        """Passed: every figure is shown to be within its limit; failed: one is not."""
        found = {check.outcome for check in self.checks}
        if "failed" in found:
            return "failed"
        return "undecided" if "undecided" in found else "passed"

    @property
    def passed(self) -> bool:
        """Whether the outcome is that the network passed."""
        return self.outcome == "passed"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "outcome": self.outcome,
            "passed": self.passed,
            "path": None if self.path is None else str(self.path),
            "checks": [check.to_dict() for check in self.checks],
            "calibrated": self.calibrated,
            "comparison": asdict(self.comparison),
            "match": None if self.match is None else self.match.to_dict(),
            "quantised": self.quantised,
            "kept": self.kept,
            "speedup": self.speedup,
        }


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
        ConfigError: an argument is out of range, ``out`` cannot be written, or the game has too few
            distinct positions.
        ModelError: the model cannot be loaded, does not fit the game, has no convolution to
            convert, or is not float32.
        KeyboardInterrupt: after Ctrl-C; nothing is written.
    """
    played = load_game(game) if isinstance(game, str) else as_game(game)
    contest = _Contest(games, simulations, match_seconds, integer("seed", seed, 0))
    _check(positions, contest)
    check_type("spec", spec, ModelSpec | None, "a ModelSpec or None")
    check_type("limits", limits, Limits | None, "Limits or None")
    check_callback("on_progress", on_progress)
    target = path_of("out", out)
    check_output(target)
    need("onnx", "convert")
    need("onnxruntime.quantization", "convert")
    original = _open(path_of("model", model), spec)
    tell = on_progress or (lambda _stage, _done: None)
    job = _Job(original.path, played, original, tell)
    samples = job.samples(positions, seed)
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        file = Path(folder, "int8.onnx")
        report = job.run(file, samples, limits or Limits(), contest)
        wanted = report.passed or (write_undecided and report.outcome == "undecided")
        return _write(file, target, report) if wanted else report


@dataclass(frozen=True)
class _Contest:
    """The match that ends the checks; attributes as in :func:`quantise`."""

    games: int
    simulations: int
    seconds: float
    seed: int


@dataclass(frozen=True)
class _Samples:
    """Positions of the network's own games.

    Attributes:
        planes: to calibrate on, [N,C,H,W].
        comparison: others, to compare on.
    """

    planes: npt.NDArray[np.float32]
    comparison: list[State]


@dataclass(frozen=True)
class _Job:
    """A network on its way to int8.

    Attributes:
        source: its file, float32.
        game: that it plays.
        original: the same, opened.
        tell: told of progress.
    """

    source: Path
    game: Game
    original: OnnxEvaluator
    tell: OnProgress

    @property
    def reading(self) -> ModelSpec:
        """How both networks read positions."""
        return self.original.spec or ModelSpec()

    def samples(self, positions: int, seed: int) -> _Samples:
        """Let the network play; ``positions`` are kept of each kind, or as many as there are."""
        longest = longest_game(self.game)
        calibration, others = play_positions(
            self.game,
            self.original,
            self.reading,
            positions,
            seed,
            lambda ply: self.tell("games", min(1.0, ply / longest)),
        )
        if min(len(calibration), len(others)) < _CALIBRATION_BATCH:
            raise ConfigError(
                f"{self.game}: expected at least {_CALIBRATION_BATCH} distinct positions to "
                "calibrate on and as many to compare on, found "
                f"{len(calibration)} and {len(others)}"
            )
        planes = observe(calibration, self.reading, self.game.num_symmetries, seed)
        return _Samples(planes, others)

    def run(self, file: Path, samples: _Samples, limits: Limits, contest: _Contest) -> Int8Report:
        """Convert into a file and measure what came of it; the report has no path yet."""
        self.tell("calibration", 0.0)
        quantised, kept = _quantise(self.source, file, samples.planes, self.reading)
        self.tell("calibration", 1.0)
        comparison = compare(self.original, _open(file, self.reading), samples.comparison)
        own = turned(self.original, samples.comparison[:_TURNED_POSITIONS])
        checks = comparison.checks(limits, own)
        speedup = _speedup(self.source, file, samples.planes)
        self.tell("comparison", 1.0)
        result = None
        if contest.games and all(check.passed for check in checks):
            result, check = self._match(file, limits, contest)
            checks.append(check)
        calibrated = len(samples.planes)
        return Int8Report(
            None, tuple(checks), calibrated, comparison, result, quantised, kept, speedup
        )

    def _match(self, file: Path, limits: Limits, contest: _Contest) -> tuple[MatchResult, Check]:
        paths = (self.source, file)
        original, converted = (OnnxEvaluator(p, self.reading, providers=[_CPU]) for p in paths)
        return play_match(
            self.game,
            original,
            converted,
            limits,
            games=contest.games,
            simulations=contest.simulations,
            seconds=contest.seconds,
            seed=contest.seed,
            on_progress=lambda so_far: self.tell("match", so_far.games / contest.games),
        )


def _open(model: str | os.PathLike[str], spec: ModelSpec | None) -> OnnxEvaluator:
    """Open a network to be asked directly: all cores work on one call."""
    return OnnxEvaluator(model, spec, providers=[_CPU], threads=machine.cores())


def _check(positions: int, contest: _Contest) -> None:
    for name, value, least in (
        ("positions", positions, _CALIBRATION_BATCH),
        ("games", contest.games, 0),
        ("simulations", contest.simulations, 1),
    ):
        integer(name, value, least)
    number("match_seconds", contest.seconds, "seconds above 0", lambda seconds: seconds > 0)


def _quantise(
    source: Path, target: Path, planes: npt.NDArray[np.float32], spec: ModelSpec
) -> tuple[int, int]:
    """Write the int8 model; return how many convolutions it has in int8, and in float32."""
    onnx = need("onnx", "convert")
    tools = need("onnxruntime.quantization", "convert")
    shapes = need("onnxruntime.quantization.shape_inference", "convert")
    prepared = target.with_name("prepared.onnx")
    metadata = {entry.key: entry.value for entry in onnx.load(source).metadata_props}
    with _quiet():
        # Folds normalisations and scales into the convolutions, and infers shapes.
        shapes.quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        model = onnx.load(prepared)
        name_nodes(model)
        onnx.save(model, prepared)
        name, shape = check_input(model, source)
        excluded = float_nodes(model)
        convolutions = [node.name for node in model.graph.node if node.op_type == "Conv"]
        quantised = [conv for conv in convolutions if conv not in excluded]
        if not quantised:
            raise ModelError(
                f"{source}: expected convolutions between the first one and the heads, "
                f"found none among {len(convolutions)}"
            )
        tools.quantize_static(
            str(prepared),
            str(target),
            _Reader(name, _batches(planes, shape)),
            quant_format=tools.QuantFormat.QDQ,
            # Relu belongs to its convolution: unsigned activations then lose no bit to a sign.
            op_types_to_quantize=["Conv", "Relu"],
            nodes_to_exclude=sorted(excluded),
            per_channel=True,
            activation_type=tools.QuantType.QUInt8,
            weight_type=tools.QuantType.QInt8,
            calibrate_method=tools.CalibrationMethod.MinMax,
        )
    model = onnx.load(target)
    onnx.helper.set_model_props(model, {**metadata, METADATA_KEY: spec.to_json()})
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


def _batches(
    planes: npt.NDArray[np.float32], shape: Sequence[int | str]
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield whole batches as the input has them: a fixed size, flat where it has two dimensions."""
    rows = _CALIBRATION_BATCH if _free(shape[0]) else int(shape[0])
    for start in range(0, len(planes) - rows + 1, rows):
        batch = planes[start : start + rows]
        yield batch.reshape(rows, -1) if len(shape) == 2 else batch


def _speedup(original: Path, converted: Path, planes: npt.NDArray[np.float32]) -> float:
    """Return the median ratio of speeds in bare ONNX Runtime, measured in turn."""
    runtime = need("onnxruntime", "convert")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    seconds: dict[Path, list[float]] = {original: [], converted: []}
    sessions = {
        path: runtime.InferenceSession(str(path), options, providers=[_CPU]) for path in seconds
    }
    entry = sessions[original].get_inputs()[0]
    batch = next(_batches(planes, (8, *entry.shape[1:]) if _free(entry.shape[0]) else entry.shape))
    for _ in range(_SPEED_ROUNDS):
        for path, session in sessions.items():
            start = time.process_time()
            for _ in range(_SPEED_CALLS):
                session.run(None, {entry.name: batch})
            seconds[path].append(time.process_time() - start)
    pairs = zip(seconds[original], seconds[converted], strict=True)
    return float(np.median([slow / fast for slow, fast in pairs if fast > 0] or [np.nan]))


def _free(size: object) -> bool:
    return not (isinstance(size, int) and size > 0)


def _write(file: Path, out: Path, report: Int8Report) -> Int8Report:
    """Write a network that passed or may have, with what the checks measured; return its report."""
    onnx = need("onnx", "convert")
    model = onnx.load(file)
    entry = model.metadata_props.add()
    entry.key = GATE_KEY
    found = {check.name: round(check.measured, 6) for check in report.checks}
    positions = report.comparison.positions
    entry.value = json.dumps({"outcome": report.outcome, "positions": positions, **found})
    save_model(model, out)
    return replace(report, path=out)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the quantiser's advice to itself while it works."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)
