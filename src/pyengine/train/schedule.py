"""The learning rate at each step."""

from __future__ import annotations

import bisect
import math

from pyengine.base.arguments import check_type
from pyengine.base.integers import integer
from pyengine.train.configs import OptimiserConfig

__all__ = ["ALPHAGO_ZERO", "ALPHAGO_ZERO_SUPERVISED", "learning_rate"]

#: Step from which a rate holds, and the rate: Silver et al., *Mastering the game of Go without
#: human knowledge* (2017), Extended Data Table 3, reinforcement learning.
ALPHAGO_ZERO = ((0, 1e-2), (400_000, 1e-3), (600_000, 1e-4))

#: The same table, supervised learning from games of people.
ALPHAGO_ZERO_SUPERVISED = (
    (0, 1e-1),
    (200_000, 1e-2),
    (400_000, 1e-3),
    (600_000, 1e-4),
    (700_000, 1e-5),
)

_TABLES = {"alphago_zero": ALPHAGO_ZERO, "alphago_zero_supervised": ALPHAGO_ZERO_SUPERVISED}


def learning_rate(config: OptimiserConfig, step: int) -> float:
    """Return the rate of step ``step`` (from 0). Raises ConfigError for a negative step."""
    check_type("config", config, OptimiserConfig, "an OptimiserConfig")
    step = integer("step", step, 0)
    rise = min(step + 1, config.warm_up + 1) / (config.warm_up + 1)
    return rise * _rate(config, step)


def _rate(config: OptimiserConfig, step: int) -> float:
    if config.schedule == "constant":
        return config.learning_rate
    if config.schedule == "cosine":
        return config.learning_rate * _cosine(config, step)
    if config.schedule == "steps":
        return config.rates[bisect.bisect_right(config.boundaries, step)]
    table = _TABLES[config.schedule]
    return next(rate for start, rate in reversed(table) if start * config.step_scale <= step)


def _cosine(config: OptimiserConfig, step: int) -> float:
    """Half a cosine from 1 after the warm-up to ``final_fraction`` at the end."""
    total = max(1, (config.total_steps or 1) - config.warm_up)
    done = min(total, max(0, step - config.warm_up)) / total
    low = config.final_fraction
    return low + (1 - low) * 0.5 * (1 + math.cos(math.pi * done))
