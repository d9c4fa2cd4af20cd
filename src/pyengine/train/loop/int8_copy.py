"""The int8 copy of a candidate, which plays in its place."""

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

#: How much a copy may lose on random positions: it plays games and does not replace the network.
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
    """Write the int8 copy of a network, if it evaluates nearly as the network does.

    The copy does not predict the game's last board, which no game needs.

    Args:
        source: the network's file, float32.
        target: the file to write.
        planes: to calibrate on, float32[N,C,H,W] of each board.
        games: that it plays; on random positions of each the two are compared.

    Returns:
        Why there is no copy, or None.

    Raises DataError if the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        copied = Path(folder, target.name)
        original = _open(source)
        reading = original.spec or ModelSpec()
        write_int8 = need("pyengine.conversion.int8_file", "train").write_int8
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
    """Return the first figure of a game that is beyond its limit, or None."""
    checks = need("pyengine.conversion.comparison", "train")
    limits = checks.Limits(**_LIMITS)
    for game in games:
        states = need("pyengine.train.onnx_export", "train").positions_of(game)
        for check in checks.compare(original, copy, states).checks(limits):
            if not check.passed:
                return f"{game}: {check.name} {check.measured:.3f}, limit {check.limit:g}"
    return None
