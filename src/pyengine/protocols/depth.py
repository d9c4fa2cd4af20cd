"""Search depths that clients ask for."""

from __future__ import annotations

import math

_BASE = 25  # simulations of depth 0
_MOST = 1 << 30


def simulations_of_depth(depth: int) -> int:
    """Return the number of simulations in place of a depth in plies; two plies double it.

    Depth 2 is 50, 10 is 800 and 20 is 25,600 simulations.
    """
    return max(1, min(round(_BASE * math.pow(2, min(depth, 60) / 2)), _MOST))
