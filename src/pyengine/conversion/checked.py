"""Checked conversion of a network, shared by int8 and float16."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from pyengine import _core
from pyengine.base import machine
from pyengine.base.extras import need
from pyengine.base.files import check_output, path_of
from pyengine.conversion.comparison import (
    CheckOptions,
    Checks,
    Comparison,
    LimitCheck,
    Outcome,
    compare,
    distinct_openings,
    match_check,
    symmetry_change,
)
from pyengine.conversion.onnx_graph import BATCH, CPU, check_float32, save_model, without_weights
from pyengine.conversion.positions import Floats, longest_game, observe, play_positions
from pyengine.errors import ConfigError
from pyengine.eval.bundled import load_or_wrap, network_file
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.onnx_files import external_files
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State
from pyengine.match import MatchResult, match
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

_SYMMETRY_POSITIONS = 200
_OPENINGS_SHARE = 0.2  # the largest share of the match's time spent on its openings


@dataclass(frozen=True)
class ConversionReport:
    """The result of a conversion.

    Attributes:
        path: the written file, or None.
        calibrated: number of positions on which activations were measured.
        comparison: both networks on positions of other games, without symmetries; None if the
            numbers do not fit into float16.
        match: the match from the converted network's side; None if no game was played.
        converted: layers converted: convolutions for int8, also matrix products for float16.
        kept: layers of these kinds left in float32.
        speedup: positions per second, int8 / float32, in bare ONNX Runtime: batches of 8, one
            thread, median; None for float16.
    """

    path: Path | None
    checks: tuple[LimitCheck, ...]
    calibrated: int
    comparison: Comparison | None
    match: MatchResult | None
    converted: int
    kept: int
    speedup: float | None = None

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the checks: failed, undecided, passed."""
        order: tuple[Outcome, ...] = ("passed", "undecided", "failed")
        return max((check.outcome for check in self.checks), key=order.index, default="passed")

    @property
    def passed(self) -> bool:
        """Whether the outcome is "passed"."""
        return self.outcome == "passed"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "outcome": self.outcome,
            "passed": self.passed,
            **vars(self),
            "path": None if self.path is None else str(self.path),
            "checks": [check.to_dict() for check in self.checks],
            "comparison": None if self.comparison is None else asdict(self.comparison),
            "match": None if self.match is None else self.match.to_dict(),
        }


@dataclass(frozen=True)
class Converted:
    """A converted network before its comparison with the original."""

    file: Path | None  #: the network to compare; None if a check failed
    converted: int  #: layers
    kept: int  #: layers left in float32
    checks: Sequence[LimitCheck] = ()
    speedup: float | None = None


@dataclass(frozen=True)
class Baseline:
    """The float32 network that a converted one is compared with."""

    name: str  #: kind of conversion, also the converted player's name in the match
    source: Path
    game: Game
    original: OnnxEvaluator
    settings: Checks

    @property
    def spec(self) -> ModelSpec:
        return self.original.spec or ModelSpec()

    def progress(self, stage: str, done: float) -> None:
        if self.settings.on_progress is not None:
            self.settings.on_progress(stage, done)

    def samples(self) -> tuple[Floats, list[State]]:
        """Let the network play; return planes [N,C,H,W] to calibrate on and states to compare on.

        They come from different games. There are fewer than requested if the game has too few.
        """
        longest = longest_game(self.game)
        calibration, comparison = play_positions(
            self.game,
            self.original,
            self.spec,
            self.settings.positions,
            self.settings.seed,
            lambda ply: self.progress("games", min(1.0, ply / longest)),
        )
        if min(len(calibration), len(comparison)) < BATCH:
            raise ConfigError(
                f"{self.game}: expected at least {BATCH} distinct positions to calibrate on and to "
                f"compare on, got {len(calibration)} and {len(comparison)}"
            )
        return observe(self.game, calibration, self.spec, self.settings.seed), comparison

    def examine(self, network: Converted, states: list[State], calibrated: int) -> ConversionReport:
        """Compare a converted network with the original; if no check fails, let it play."""
        limits, checks = self.settings.limits, list(network.checks)
        comparison = result = None
        if network.file is not None:
            comparison = compare(self.original, open_network(network.file, self.spec), states)
            change = symmetry_change(self.original, states[:_SYMMETRY_POSITIONS])
            checks += comparison.checks(limits, change)
            self.progress("comparison", 1.0)
            if self.settings.games > 0 and all(check.passed for check in checks):
                result = self._match(network.file)
                checks.append(match_check(result, limits, self.settings.simulations))
        return ConversionReport(
            path=None,
            checks=tuple(checks),
            calibrated=calibrated,
            comparison=comparison,
            match=result,
            converted=network.converted,
            kept=network.kept,
            speedup=network.speedup,
        )

    def _match(self, file: Path) -> MatchResult:
        """Let a converted network play against the original.

        Each opening is played twice with colours swapped. A sequential test ends the match. It is
        undecided if it needs more games or time than allowed, or if the game has no more openings:
        the players are nearly deterministic, so repeated openings prove nothing.
        """
        settings = self.settings
        games, seed, seconds = settings.games, settings.seed, settings.match_seconds
        end = perf_counter() + seconds

        def proceed(result: MatchResult) -> bool:
            self.progress("match", result.games / games)
            return perf_counter() < end

        original, converted = (
            OnnxEvaluator(path, self.spec, providers=[CPU]) for path in (self.source, file)
        )
        openings = distinct_openings(
            self.game, original, (games + 1) // 2, seed, seconds * _OPENINGS_SHARE
        )
        config = SearchConfig(simulations=settings.simulations, reuse_tree=False, seed=seed)
        with (
            Engine(self.game, converted, config=config) as a,
            Engine(self.game, original, config=config) as b,
        ):
            return match(
                a,
                b,
                games=min(games, 2 * len(openings)),
                openings=openings,
                sprt=settings.limits.test(),
                names=(self.name, "original"),
                on_progress=proceed,
            )


#: Writes a network converted with the given planes to a file.
Converter = Callable[[Baseline, Path, Floats], Converted]


def convert(
    name: str,
    converter: Converter,
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    game: Game | str,
    options: CheckOptions,
) -> ConversionReport:
    """Convert a network and write it if it passes the checks.

    The file holds the measurements as metadata ``pyengine.NAME``. Raises errors as
    :func:`pyengine.conversion.quantise` does.
    """
    settings = Checks(**options)
    loaded = load_or_wrap(game)
    source, target = source_and_target(model, out)
    need("onnx", "convert")
    need("onnxruntime.quantization", "convert")
    original = open_network(source, settings.spec)
    check_float32(without_weights(original.path), original.path)
    _core.BoundEvaluator(original, loaded)  # raises if the network does not fit the game
    original.evaluate_final_board([loaded.new_initial_state()], game=loaded)  # or its outputs
    baseline = Baseline(name, original.path, loaded, original, settings)
    planes, states = baseline.samples()
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        file = Path(folder, f"{name}.onnx")
        baseline.progress("calibration", 0.0)
        network = converter(baseline, file, planes)
        baseline.progress("calibration", 1.0)
        report = baseline.examine(network, states, len(planes))
        if not report.passed and not (settings.write_undecided and report.outcome == "undecided"):
            return report
        written = need("onnx", "convert").load(file)
        figures = {check.name: round(check.measured, 6) for check in report.checks}
        summary = {"outcome": report.outcome, "positions": len(states), **figures}
        written.metadata_props.add(key=f"pyengine.{name}", value=json.dumps(summary))
        save_model(written, target)
    return replace(report, path=target)


def source_and_target(
    model: str | os.PathLike[str], out: str | os.PathLike[str]
) -> tuple[Path, Path]:
    """Return the paths of a network and its copy.

    Raises:
        ConfigError: the copy cannot be written, or would replace a file of the network.
        ModelError: the network cannot be read.

    """
    target = path_of("out", out)
    check_output(target)
    source = network_file("model", model)
    check_output(target, (source, *external_files(source)))
    return source, target


def open_network(model: str | os.PathLike[str], spec: ModelSpec | None) -> OnnxEvaluator:
    """Open a network to evaluate directly: one call uses all cores."""
    return OnnxEvaluator(model, spec, providers=[CPU], threads=machine.cores())
