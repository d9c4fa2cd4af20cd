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

import numpy as np
import numpy.typing as npt

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
from pyengine.conversion.onnx_graph import (
    BATCH,
    CPU,
    check_float32,
    save_model,
    without_weights,
)
from pyengine.conversion.positions import longest_game, observe, play_positions
from pyengine.errors import ConfigError
from pyengine.eval.bundled import network_file
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.onnx_files import external_files
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, load_or_wrap
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
class Samples:
    """Planes float32[N,C,H,W] to calibrate on, and states of other games to compare on."""

    planes: npt.NDArray[np.float32]
    comparison: list[State]


@dataclass(frozen=True)
class Baseline:
    """The float32 network that a converted one is compared with."""

    name: str  #: kind of conversion, also the converted player's name in the match
    source: Path
    game: Game
    original: OnnxEvaluator
    checks: Checks

    @property
    def spec(self) -> ModelSpec:
        return self.original.spec or ModelSpec()

    def progress(self, stage: str, done: float) -> None:
        if self.checks.on_progress is not None:
            self.checks.on_progress(stage, done)

    def samples(self) -> Samples:
        """Let the network play; return as many positions of each kind as requested, or fewer."""
        longest = longest_game(self.game)
        calibration, comparison = play_positions(
            self.game,
            self.original,
            self.spec,
            self.checks.positions,
            self.checks.seed,
            lambda ply: self.progress("games", min(1.0, ply / longest)),
        )
        if min(len(calibration), len(comparison)) < BATCH:
            raise ConfigError(
                f"{self.game}: expected at least {BATCH} distinct positions to calibrate on and to "
                f"compare on, got {len(calibration)} and {len(comparison)}"
            )
        symmetries = self.game.num_symmetries
        planes = observe(calibration, self.spec, symmetries, self.checks.seed)
        return Samples(planes, comparison)

    def compare(self, file: Path, samples: Samples) -> tuple[Comparison, list[LimitCheck]]:
        """Compare a converted network with the original."""
        states = samples.comparison
        comparison = compare(self.original, open_network(file, self.spec), states)
        change = symmetry_change(self.original, states[:_SYMMETRY_POSITIONS])
        return comparison, comparison.checks(self.checks.limits, change)

    def match(
        self, file: Path, checks: Sequence[LimitCheck]
    ) -> tuple[MatchResult | None, list[LimitCheck]]:
        """Let a converted network play, unless a check failed or no games were requested.

        Each opening is played twice with colours swapped. A sequential test ends the match. It is
        undecided if it needs more games or time than allowed, or if the game has no more openings:
        the players are nearly deterministic, so repeated openings prove nothing.
        """
        games, seconds, limits = self.checks.games, self.checks.match_seconds, self.checks.limits
        if games == 0 or not all(check.passed for check in checks):
            return None, []
        end = perf_counter() + seconds

        def proceed(result: MatchResult) -> bool:
            self.progress("match", result.games / games)
            return perf_counter() < end

        paths, seed = (self.source, file), self.checks.seed
        original, converted = (OnnxEvaluator(p, self.spec, providers=[CPU]) for p in paths)
        openings = distinct_openings(
            self.game, original, (games + 1) // 2, seed, seconds * _OPENINGS_SHARE
        )
        config = SearchConfig(simulations=self.checks.simulations, reuse_tree=False, seed=seed)
        with (
            Engine(self.game, converted, config=config) as a,
            Engine(self.game, original, config=config) as b,
        ):
            result = match(
                a,
                b,
                games=min(games, 2 * len(openings)),
                openings=openings,
                sprt=limits.test(),
                names=(self.name, "original"),
                on_progress=proceed,
            )
        return result, [match_check(result, limits, self.checks.simulations)]


#: Converts to a file and measures the result; the report's path is not set yet.
Converter = Callable[[Baseline, Path, Samples], ConversionReport]


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
    checks = Checks(**options)
    loaded = load_or_wrap(game)
    source, target = source_and_target(model, out)
    need("onnx", "convert")
    need("onnxruntime.quantization", "convert")
    original = open_network(source, checks.spec)
    check_float32(without_weights(original.path), original.path)
    _core.BoundEvaluator(original, loaded)  # raises if the network does not fit the game
    original.evaluate_final_board([loaded.new_initial_state()], game=loaded)  # or its outputs
    baseline = Baseline(name, original.path, loaded, original, checks)
    samples = baseline.samples()
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        file = Path(folder, f"{name}.onnx")
        report = converter(baseline, file, samples)
        if not report.passed and not (checks.write_undecided and report.outcome == "undecided"):
            return report
        network = need("onnx", "convert").load(file)
        figures = {check.name: round(check.measured, 6) for check in report.checks}
        summary = {"outcome": report.outcome, "positions": len(samples.comparison), **figures}
        network.metadata_props.add(key=f"pyengine.{name}", value=json.dumps(summary))
        save_model(network, target)
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
