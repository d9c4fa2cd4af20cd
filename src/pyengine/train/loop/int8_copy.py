"""The int8 copy of a candidate, used for self-play."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

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
    source: Path,
    target: Path,
    planes: Sequence[npt.NDArray[np.float32]],
    games: Sequence[Game],
) -> str | None:
    """Write the int8 copy of a network if its evaluations are close enough.

    The copy has no ownership or score output, which self-play does not need.

    Args:
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
        reading = original.spec or ModelSpec()
        write_int8 = need("pyengine.conversion.int8", "train").write_int8
        try:
            write_int8(
                source,
                copied,
                planes,
                reading.without_final_board(),
                without=reading.final_board_outputs,
            )
            refused = _differs(original, _open(copied), games)
        except (EngineError, OSError) as error:
            refused = str(error)
        if refused is not None:
            return f"no int8 copy of {source.name}, which plays in float32: {refused}"
        with replacing(target) as temporary:
            shutil.copyfile(copied, temporary)
    return None


def _open(path: Path) -> OnnxEvaluator:
    return OnnxEvaluator(path, providers=["CPUExecutionProvider"], threads=1)


def _differs(original: OnnxEvaluator, copy: OnnxEvaluator, games: Sequence[Game]) -> str | None:
    """Return the first figure of a game that exceeds its limit, or None."""
    checks = need("pyengine.conversion.comparison", "train")
    limits = checks.Limits(**_LIMITS)
    for game in games:
        states = need("pyengine.train.export_check", "train").positions_of(game)
        for check in checks.compare(original, copy, states).checks(limits):
            if not check.passed:
                return f"{game}: {check.name} {check.measured:.3f}, limit {check.limit:g}"
    return None
