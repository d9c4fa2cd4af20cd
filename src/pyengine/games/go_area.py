"""Area scoring in Go, with all stones alive."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.games.game import State

_AREAS = _core.ModelSpec(planes=("own_area", "opp_area", "mover_sign"))


def owners(state: State) -> npt.NDArray[np.int8]:
    """Return the owners as int8[H,W]: 1 = first player, -1 = second player, 0 = neither.

    A player owns their stones and the empty regions that only these stones touch.
    """
    own, opponent, sign = state.observation_tensor(_AREAS)
    owned: npt.NDArray[np.int8] = ((own - opponent) * sign).astype(np.int8)
    return owned


def area(state: State) -> tuple[int, int]:
    """Return the points of both players."""
    owned = owners(state)
    return int((owned > 0).sum()), int((owned < 0).sum())


def score_text(state: State) -> str:
    """Return the area score of a Go position, such as ``"Black 40, White 36 + 7.5"``."""
    first, second = area(state)
    return f"Black {first}, White {second} + {float(state.game.params['komi']):g}"
