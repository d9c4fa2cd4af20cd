"""The int8 or float16 copy of a candidate, used for self-play."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.base.files import replacing
from pyengine.errors import EngineError
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

#: Allowed differences on random positions: the copy plays games but does not replace the network.
_LIMITS = {
    "policy_mean": 0.1,
    "policy_99": 0.5,
    "value_mean": 0.1,
    "agreement": 0.7,
    "regret": 0.05,
}


def write_copy(
    precision: str,
    source: Path,
    target: Path,
    planes: Sequence[npt.NDArray[np.float32]],
    games: Sequence[Game],
) -> str | None:
    """Write the copy of a network if its evaluations are close enough.

    The copy has no ownership or score output, which self-play does not need.

    Args:
        precision: of the copy, "int8" or "float16".
        source: the network's float32 file.
        target: the file to write.
        planes: for calibration, one float32[N,C,H,W] per board size.
        games: the games it plays, for random positions on which the two are compared.

    Returns:
        The reason why no copy was written, or None.

    Raises DataError if the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        copied = Path(folder, target.name)
        original = _open(source)
        try:
            converted = _convert(precision, original, copied, planes, games)
            refused = _differs(original, converted, games)
        except (EngineError, OSError) as error:
            refused = str(error)
        if refused is not None:
            return f"no {precision} copy of {source.name}, which plays in float32: {refused}"
        with replacing(target) as temporary:
            shutil.copyfile(copied, temporary)
    return None


def _convert(
    precision: str,
    original: OnnxEvaluator,
    target: Path,
    planes: Sequence[npt.NDArray[np.float32]],
    games: Sequence[Game],
) -> Any:
    """Write a copy, and return the ``Converted`` with the network to compare."""
    reading = original.spec or ModelSpec()
    spec, without = reading.without_final_board(), reading.final_board_outputs
    converter = need(f"pyengine.conversion.{precision}", "train")
    if precision == "int8":
        write = converter.write_int8
    else:
        write = partial(converter.write_float16, games=games)
    return write(original.path, target, planes, spec, without=without)


def _open(path: Path) -> OnnxEvaluator:
    return OnnxEvaluator(path, providers=["CPUExecutionProvider"], threads=1)


def _differs(original: OnnxEvaluator, converted: Any, games: Sequence[Game]) -> str | None:
    """Return the first figure that exceeds its limit, or None."""
    for check in converted.checks:
        if not check.passed:
            return _described(check)
    copy = _open(converted.file)
    checks = need("pyengine.conversion.comparison", "train")
    limits = checks.Limits(**_LIMITS)
    for game in games:
        states = need("pyengine.train.export_check", "train").positions_of(game)
        for check in checks.compare(original, copy, states).checks(limits):
            if not check.passed:
                return f"{game}: {_described(check)}"
    return None


def _described(check: Any) -> str:
    return f"{check.name} {check.measured:.3f}, limit {check.limit:g}"
