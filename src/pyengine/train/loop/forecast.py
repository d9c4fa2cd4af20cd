"""What a run still needs, computed from its progress and settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyengine.train.loop.run import RunProgress
from pyengine.train.loop.runfile import RunFile


@dataclass(frozen=True)
class Wait:
    """Why the learner waits: a setting of ``[window]`` and the usable positions it still needs."""

    setting: str
    missing: int


def wait_of(progress: RunProgress, run: RunFile) -> Wait | None:
    """Return what the learner waits for, or None if it may train."""
    window, batch = run.window, run.train.learner.batch_size
    if progress.usable < window.minimum_positions:
        return Wait("minimum_positions", window.minimum_positions - progress.usable)
    if window.allowed_steps(progress.usable, batch) > progress.step:
        return None
    needed = _positions_for(progress.step + 1, run)
    return Wait("samples_per_position", max(1, needed - progress.usable))


def seconds_to_positions(progress: RunProgress, usable: int) -> float | None:
    """Return the seconds until so many positions are usable; None before there is a rate."""
    missing = max(0, usable - progress.usable)
    share = progress.usable / max(1, progress.positions)
    rate = progress.positions_per_second * share
    if missing == 0:
        return 0.0
    return missing / rate if rate > 0 else None


def seconds_to_games(progress: RunProgress, games: int) -> float | None:
    """Return the seconds until so many games are played; None before there is a rate."""
    rate = progress.positions_per_second * progress.games / max(1, progress.positions)
    return max(0, games - progress.games) / rate if rate > 0 else None


def positions_of_candidate(run: RunFile) -> int:
    """Return the usable positions that the first candidate needs."""
    return max(run.window.minimum_positions, _positions_for(run.gate.every_steps, run))


def seconds_to_candidate(progress: RunProgress, run: RunFile) -> float | None:
    """Return the seconds until the first candidate; None before there is a rate.

    As long as the learner's speed is unknown, it is the time until its positions exist.
    """
    start = seconds_to_positions(progress, run.window.minimum_positions)
    data = seconds_to_positions(progress, positions_of_candidate(run))
    if start is None or data is None:
        return None
    if progress.samples_per_second == 0:
        return data or None
    samples = (run.gate.every_steps - progress.step) * run.train.learner.batch_size
    return max(data, start + samples / progress.samples_per_second)


def seconds_left(progress: RunProgress, run: RunFile) -> float:
    """Return the seconds until the run's limit in minutes; infinite without one."""
    minutes = run.run.minutes
    return math.inf if minutes is None else max(0.0, 60 * minutes - progress.seconds)


def _positions_for(steps: int, run: RunFile) -> int:
    """Return the usable positions that allow so many steps."""
    return math.ceil(steps * run.train.learner.batch_size / run.window.samples_per_position)
