"""How much of the data the learner draws from, and how many steps it may have done."""

from __future__ import annotations

import math

from pyengine.train.loop.run_configs import WindowConfig

__all__ = ["allowed_steps", "window_games", "window_positions"]


def window_positions(config: WindowConfig, total: int) -> int:
    """Return how many of ``total`` positions the growing window holds."""
    if total <= config.start:
        return total
    grown = ((total / config.start) ** config.exponent - 1) / config.exponent
    return min(total, round(config.start * (1 + config.slope * grown)))


def window_games(config: WindowConfig, games: int, positions: int) -> int:
    """Return how many of the newest games the window holds, at least 1.

    Args:
        config: of the window.
        games, positions: how many there are.

    """
    if config.kind == "games":
        return max(1, min(config.games, games))
    share = window_positions(config, positions) / max(1, positions)
    return max(1, math.ceil(games * share))


def allowed_steps(config: WindowConfig, positions: int, batch_size: int) -> int:
    """Return how many steps the learner may have done with so many positions."""
    if positions < config.minimum_positions:
        return 0
    return int(positions * config.samples_per_position / batch_size)
