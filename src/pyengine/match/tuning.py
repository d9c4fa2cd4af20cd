"""The fastest search settings for this machine: :func:`tune`."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyengine.base import machine
from pyengine.base.checks import check_callback, check_type, number
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

#: Leaves in flight cost strength, so twice as many must be faster by this share. All doublings from
#: 1 to 256 together cost less than the tolerated 5 %.
_PRICE = 0.005
_CPU_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_DEVICE_BATCHES = (16, 32, 64, 128, 256, 512)
_MOST_IN_FLIGHT = 4096
_FINALISTS = 3
_SLICE = 0.4  # seconds of a measurement
_MOST_PASSES = 5


@dataclass(frozen=True, order=True)
class Setting:
    """The tuned fields of :class:`~pyengine.SearchConfig`."""

    in_flight: int
    batch_size: int
    threads: int

    def apply(self, config: SearchConfig) -> SearchConfig:
        """Return the configuration with this setting."""
        return config.replace(**dataclasses.asdict(self))


@dataclass(frozen=True)
class Trial:
    """The measurements of a setting.

    ``rate`` is in positions evaluated per second, the median of the last of ``rounds``; each round
    eliminates half of the settings.
    """

    setting: Setting
    rate: float = 0.0
    measurements: int = 0
    rounds: int = 0


@dataclass(frozen=True, repr=False)
class TuneResult:
    """The result of :func:`tune`.

    Attributes:
        config: the engine's configuration with the best setting.
        trials: by number of rounds, then by speed.
        complete: False if Ctrl-C ended the tuning early.
    """

    config: SearchConfig
    best: Trial
    trials: tuple[Trial, ...]
    seconds: float
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "config": self.config.to_dict(),
            "rate": self.best.rate,
            "seconds": self.seconds,
            "complete": self.complete,
            "trials": [
                {**dataclasses.asdict(trial), "setting": dataclasses.asdict(trial.setting)}
                for trial in self.trials
            ],
        }

    def __repr__(self) -> str:
        return (
            f"TuneResult(best={self.best.setting!r}, rate={self.best.rate:.0f}, "
            f"trials={len(self.trials)}, complete={self.complete})"
        )

    def __str__(self) -> str:
        lines = [f"{'threads':>7} {'batch_size':>10} {'in_flight':>9} {'positions/s':>12} measured"]
        for trial in self.trials:
            setting = trial.setting
            lines.append(
                f"{setting.threads:>7} {setting.batch_size:>10} {setting.in_flight:>9} "
                f"{trial.rate:>12,.0f} {trial.measurements}"
                f"{'  <- chosen' if trial == self.best else ''}"
            )
        best = self.best.setting
        lines.append(
            f"SearchConfig(threads={best.threads}, batch_size={best.batch_size}, "
            f"in_flight={best.in_flight}): {self.best.rate:,.0f} positions/s\n{len(self.trials)} "
            f"settings tried in {self.seconds:.0f} s{'' if self.complete else ' (interrupted)'}"
        )
        return "\n".join(lines)


#: ``measure(setting, seconds) -> positions per second``
Measure: TypeAlias = Callable[[Setting, float], float]
#: ``on_progress(fraction done, best trial so far or None)``
OnProgress: TypeAlias = Callable[[float, Trial | None], object]


def tune(
    engine: Engine,
    seconds: float = 60.0,
    *,
    state: Any = None,
    on_progress: OnProgress | None = None,
) -> TuneResult:
    """Find the threads, batch size and leaves in flight with the fastest search on this machine.

    Settings compete by positions evaluated per second. Each round eliminates half of them and
    measures the rest for longer. Among settings of similar speed the one with fewest leaves in
    flight wins, since those cost strength. On a quiet machine the result is within 5 % of the best
    setting of the grid.

    Args:
        engine: the game, evaluator and other settings; the engine itself does not search.
        seconds: approximate duration, > 0.
        state: the state to search; None = the initial state.
        on_progress: called after each measurement with the fraction done (0 to 1) and the best
            trial so far.

    Returns:
        The best configuration and all trials. Ctrl-C returns the best so far; before the first
        measurement it raises KeyboardInterrupt.

    Raises:
        EvaluationError: the evaluator failed.

    Example:
        >>> import pyengine
        >>> from pyengine.match import tune
        >>> engine = pyengine.Engine("connect_four", "connect4")
        >>> result = tune(engine, seconds=0.1)
        >>> faster = pyengine.Engine("connect_four", "connect4", config=result.config)
    """
    check_type("engine", engine, Engine, "an Engine")
    seconds = number("seconds", seconds, "a number > 0", lambda s: s > 0)
    check_callback("on_progress", on_progress)
    start = engine.game.new_initial_state() if state is None else state
    on_device = not str(engine.stats()["provider"] or "CPU").startswith("CPU")
    grid = settings_for(machine.cores(), on_device)
    begun = time.monotonic()
    search = _Halving(lambda setting, span: _measure(engine, start, setting, span), on_progress)
    complete = search.run([*grid, _current(engine.config)], seconds)
    best = search.best()
    return TuneResult(
        config=best.setting.apply(engine.config),
        best=best,
        trials=search.table(),
        seconds=time.monotonic() - begun,
        complete=complete,
    )


def settings_for(cores: int, on_device: bool) -> list[Setting]:
    """Return the grid of threads up to the cores, batch sizes and batches in flight."""
    threads = sorted({cores, *(2**i for i in range(cores.bit_length()) if 2**i <= cores)})
    settings = set()
    for count, batch in itertools.product(threads, _DEVICE_BATCHES if on_device else _CPU_BATCHES):
        # A CPU thread evaluates its own batch; a device needs batches queued ahead.
        for batches in {1, 2, 3, 4} if on_device else {1, count, 2 * count}:
            if batch * batches <= _MOST_IN_FLIGHT:
                settings.add(Setting(in_flight=batch * batches, batch_size=batch, threads=count))
    return sorted(settings)


def _current(config: SearchConfig) -> Setting:
    return Setting(
        in_flight=config.in_flight or 2 * config.batch_size,
        batch_size=config.batch_size,
        threads=config.threads or machine.cores(),
    )


def _measure(engine: Engine, state: Any, setting: Setting, seconds: float) -> float:
    """Return the speed of a new engine, measured after a warm-up that fills its batches."""
    config = setting.apply(engine.config)
    done = spent = 0.0
    with Engine(engine.game, engine.evaluator, config=config) as other:
        warm = other.search(state, simulations=4 * setting.in_flight, seconds=seconds / 2)
        budget = seconds - min(warm.seconds, seconds / 2)
        while spent < budget:
            result = other.search(state, simulations=None, seconds=budget - spent)
            done += result.evaluations or result.simulations
            spent += max(result.seconds, 1e-6)
            if result.stop_reason == "proven" or not result.evaluations:
                other.clear()  # the tree is solved, or the cache has every position
    return done / spent


@dataclass
class _Halving:
    """Successive halving: the better half of the settings reaches the next round."""

    measure: Measure
    on_progress: OnProgress | None = None
    trials: dict[Setting, Trial] = field(default_factory=dict)

    def run(self, settings: Sequence[Setting], seconds: float) -> bool:
        """Measure until few settings are left; return False if Ctrl-C ended it early."""
        left = sorted(set(settings))
        number = rounds_of(len(left))
        try:
            for done in range(number):
                self._round(left, seconds / number, done / number, 1 / number)
                half = max(_FINALISTS, math.ceil(len(left) / 2))
                left.sort(key=lambda setting: _merit(self.trials[setting]), reverse=True)
                left = left[:half]
        except KeyboardInterrupt:
            if not self.trials:
                raise
            return False
        return True

    def _round(self, left: list[Setting], seconds: float, begun: float, share: float) -> None:
        """Measure each setting equally often, in turns; every second pass is reversed."""
        passes = min(_MOST_PASSES, max(1, int(seconds / (_SLICE * len(left)))))
        total = passes * len(left)
        rates: dict[Setting, list[float]] = {setting: [] for setting in left}
        order = [*left, *reversed(left)] * passes
        for done, setting in enumerate(order[:total], 1):
            try:
                rates[setting].append(self.measure(setting, seconds / total))
            except KeyboardInterrupt:
                if not self.trials:  # better than no result
                    self._store(rates)
                raise
            if self.on_progress is not None:
                best = self.best() if self.trials else None
                self.on_progress(begun + share * done / total, best)
        self._store(rates)

    def _store(self, rates: dict[Setting, list[float]]) -> None:
        for setting, measured in rates.items():
            if measured:
                before = self.trials.get(setting, Trial(setting))
                self.trials[setting] = Trial(
                    setting=setting,
                    rate=statistics.median(measured),
                    measurements=before.measurements + len(measured),
                    rounds=before.rounds + 1,
                )

    def best(self) -> Trial:
        """Return the best trial of the last round."""
        last = max(trial.rounds for trial in self.trials.values())
        return max((t for t in self.trials.values() if t.rounds == last), key=_merit)

    def table(self) -> tuple[Trial, ...]:
        """Return all trials, by number of rounds, then by speed."""
        order = sorted(self.trials.values(), key=lambda t: (t.rounds, t.rate), reverse=True)
        return tuple(order)


def _merit(trial: Trial) -> float:
    """Return the rate minus the price of the leaves in flight."""
    return trial.rate * (1 - _PRICE * math.log2(trial.setting.in_flight))


def rounds_of(count: int) -> int:
    """Return the number of rounds until only finalists are left."""
    rounds = 1
    while count > _FINALISTS:
        count = max(_FINALISTS, math.ceil(count / 2))
        rounds += 1
    return rounds
