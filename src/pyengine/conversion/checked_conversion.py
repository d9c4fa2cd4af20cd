"""The way of a network through the checks: what conversions to int8 and to float16 share."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base import machine
from pyengine.base.arguments import check_callback, check_type, number
from pyengine.base.extras import need
from pyengine.base.files import check_output, path_of
from pyengine.base.integers import integer
from pyengine.conversion.comparison import (
    Comparison,
    LimitCheck,
    Limits,
    Outcome,
    compare,
    play_match,
    turned,
)
from pyengine.conversion.leela_onnx import save_model
from pyengine.conversion.model_file import BATCH, CPU, without_weights
from pyengine.conversion.onnx_graph import check_float32
from pyengine.conversion.positions import longest_game, observe, play_positions
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import OnnxEvaluator, model_file
from pyengine.eval.onnx_files import external_files
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, as_game, load_game
from pyengine.match import MatchResult

__all__ = [
    "Baseline",
    "ConversionReport",
    "OnProgress",
    "Options",
    "Samples",
    "convert",
    "open_network",
    "source_and_target",
]

_TURNED_POSITIONS = 200  # times the symmetries

#: Called with a stage ("games", "calibration", "comparison", "match") and how much of it is done,
#: 0 to 1.
OnProgress = Callable[[str, float], object]


@dataclass(frozen=True)
class ConversionReport:
    """What a conversion gave.

    Attributes:
        path: the file; None when the checks kept it from being written.
        checks: each figure and its limit.
    """

    path: Path | None
    checks: tuple[LimitCheck, ...]

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
        values = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"outcome": self.outcome, "passed": self.passed, **values}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Path):
        return str(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a conversion is checked; attributes as in :func:`pyengine.conversion.quantise`."""

    spec: ModelSpec | None
    positions: int
    games: int
    simulations: int
    match_seconds: float
    seed: int
    limits: Limits | None
    write_undecided: bool
    on_progress: OnProgress | None

    def __post_init__(self) -> None:
        """Raise ConfigError for a value out of range."""
        for name, least in (("seed", 0), ("positions", BATCH), ("games", 0), ("simulations", 1)):
            integer(name, getattr(self, name), least)
        seconds = self.match_seconds
        number("match_seconds", seconds, "seconds above 0", lambda seconds: seconds > 0)
        check_type("spec", self.spec, ModelSpec | None, "a ModelSpec or None")
        check_type("limits", self.limits, Limits | None, "Limits or None")
        check_callback("on_progress", self.on_progress)


@dataclass(frozen=True)
class Samples:
    """Positions of the network's own games.

    Attributes:
        planes: to calibrate on, float32[N,C,H,W].
        comparison: others, to compare on.
    """

    planes: npt.NDArray[np.float32]
    comparison: list[State]


@dataclass(frozen=True)
class Baseline:
    """What a converted network is held against.

    Attributes:
        name: of the kind of conversion, as players of the match are called.
        source: the network's file, float32.
        game: that it plays.
        original: the same, opened.
        options: of the checks.
    """

    name: str
    source: Path
    game: Game
    original: OnnxEvaluator
    options: Options

    @property
    def limits(self) -> Limits:
        """What the network may lose."""
        return self.options.limits or Limits()

    @property
    def reading(self) -> ModelSpec:
        """How both networks read positions."""
        return self.original.spec or ModelSpec()

    def tell(self, stage: str, done: float) -> None:
        """Tell of progress."""
        if self.options.on_progress is not None:
            self.options.on_progress(stage, done)

    def samples(self) -> Samples:
        """Let the network play; keep the positions asked for of each kind, or all there are."""
        longest = longest_game(self.game)
        calibration, others = play_positions(
            self.game,
            self.original,
            self.reading,
            self.options.positions,
            self.options.seed,
            lambda ply: self.tell("games", min(1.0, ply / longest)),
        )
        if min(len(calibration), len(others)) < BATCH:
            raise ConfigError(
                f"{self.game}: expected at least {BATCH} distinct positions to "
                "calibrate on and as many to compare on, found "
                f"{len(calibration)} and {len(others)}"
            )
        symmetries = self.game.num_symmetries
        planes = observe(calibration, self.reading, symmetries, self.options.seed)
        return Samples(planes, others)

    def compare(self, file: Path, samples: Samples) -> tuple[Comparison, list[LimitCheck]]:
        """Compare what a converted network says with what the original says."""
        states = samples.comparison
        comparison = compare(self.original, open_network(file, self.reading), states)
        own = turned(self.original, states[:_TURNED_POSITIONS])
        return comparison, comparison.checks(self.limits, own)

    def match(
        self, file: Path, checks: Sequence[LimitCheck]
    ) -> tuple[MatchResult | None, list[LimitCheck]]:
        """Let a converted network play; no match where a figure failed, or none was asked for."""
        games = self.options.games
        if games == 0 or not all(check.passed for check in checks):
            return None, []
        paths = (self.source, file)
        original, converted = (OnnxEvaluator(p, self.reading, providers=[CPU]) for p in paths)
        result, check = play_match(
            self.game,
            original,
            converted,
            self.limits,
            name=self.name,
            games=games,
            simulations=self.options.simulations,
            seconds=self.options.match_seconds,
            seed=self.options.seed,
            on_progress=lambda so_far: self.tell("match", so_far.games / games),
        )
        return result, [check]


Report = TypeVar("Report", bound=ConversionReport)

#: Converts into a file and measures what came of it; the report has no path yet.
Converter = Callable[[Baseline, Path, Samples], Report]


def convert(
    name: str,
    converter: Converter[Report],
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game | str,
    options: Options,
) -> Report:
    """Convert a network and write it if the checks let it pass.

    ``name`` is the kind of conversion; the file keeps what was measured under ``pyengine.NAME``.
    Errors as of :func:`pyengine.conversion.quantise`.
    """
    played = load_game(game) if isinstance(game, str) else as_game(game)
    source, target = source_and_target(model, out)
    need("onnx", "convert")
    need("onnxruntime.quantization", "convert")
    original = open_network(source, options.spec)
    check_float32(without_weights(original.path), original.path)
    _core.BoundEvaluator(original, played)  # raises where it does not fit the game
    original.evaluate_final_board([played.new_initial_state()], game=played)  # refused before games
    baseline = Baseline(name, original.path, played, original, options)
    samples = baseline.samples()
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        file = Path(folder, f"{name}.onnx")
        report = converter(baseline, file, samples)
        undecided = options.write_undecided and report.outcome == "undecided"
        if not (report.passed or undecided):
            return report
        _write(file, target, f"pyengine.{name}", report, len(samples.comparison))
    return replace(report, path=target)


def _write(file: Path, out: Path, key: str, report: ConversionReport, positions: int) -> None:
    """Write a network that passed or may have, with what the checks measured."""
    onnx = need("onnx", "convert")
    model = onnx.load(file)
    entry = model.metadata_props.add()
    entry.key = key
    found = {check.name: round(check.measured, 6) for check in report.checks}
    entry.value = json.dumps({"outcome": report.outcome, "positions": positions, **found})
    save_model(model, out)


def source_and_target(
    model: str | os.PathLike[str], out: str | os.PathLike[str]
) -> tuple[Path, Path]:
    """Return the file of a network, and that of its copy.

    Raises:
        ConfigError: the copy cannot be written, or would replace a file of the network.
        ModelError: the network's file cannot be read.

    """
    target = path_of("out", out)
    check_output(target)
    source = model_file(path_of("model", model))
    check_output(target, (source, *external_files(source)))
    return source, target


def open_network(model: str | os.PathLike[str], spec: ModelSpec | None) -> OnnxEvaluator:
    """Open a network to be asked directly: all cores work on one call."""
    return OnnxEvaluator(model, spec, providers=[CPU], threads=machine.cores())
