"""Find the fastest settings of a search on this machine: :func:`tune`."""

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
from pyengine.base.arguments import check_callback, number, short_repr
from pyengine.errors import ConfigError
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

#: Leaves in flight cost strength: twice as many must be this much faster. The price of all the
#: doublings between 1 and 256 is below the 5 % that may be lost to the best of the grid.
_PRICE = 0.005
_CPU_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_DEVICE_BATCHES = (16, 32, 64, 128, 256, 512)
_MOST_IN_FLIGHT = 4096
_FINALISTS = 3
_SLICE = 0.4  # seconds of one measurement, where there is time for several
_MOST_PASSES = 5


@dataclass(frozen=True, order=True)
class Setting:
    """The fields of :class:`~pyengine.SearchConfig` that are chosen."""

    in_flight: int
    batch_size: int
    threads: int

    def apply(self, config: SearchConfig) -> SearchConfig:
        """Return the configuration with this setting."""
        return config.replace(**dataclasses.asdict(self))


@dataclass(frozen=True)
class Trial:
    """A setting that was tried.

    Attributes:
        rate: positions evaluated a second inside the search, the median of its last round.
        measurements: how often it was measured, all rounds together.
        rounds: how many it lasted; half of those that are left go in each.
    """

    setting: Setting
    rate: float
    measurements: int
    rounds: int


@dataclass(frozen=True, repr=False)
class TuneResult:
    """What :func:`tune` found.

    Attributes:
        config: the engine's configuration with the best setting.
        best: its trial.
        trials: all, the longest lasting and fastest first.
        seconds: that it took.
        complete: False when Ctrl-C ended it early: the best so far.
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
        """Return the essentials in one line."""
        return (
            f"TuneResult(best={self.best.setting!r}, rate={self.best.rate:.0f}, "
            f"trials={len(self.trials)}, complete={self.complete})"
        )

    def __str__(self) -> str:
        """Return the table of what was tried, and the choice."""
        lines = [f"{'threads':>7} {'batch_size':>10} {'in_flight':>9} {'positions/s':>12} measured"]
        for trial in self.trials:
            one = trial.setting
            lines.append(
                f"{one.threads:>7} {one.batch_size:>10} {one.in_flight:>9} {trial.rate:>12,.0f} "
                f"{trial.measurements}{'  <- chosen' if trial == self.best else ''}"
            )
        one = self.best.setting
        lines.append(
            f"SearchConfig(threads={one.threads}, batch_size={one.batch_size}, "
            f"in_flight={one.in_flight}): {self.best.rate:,.0f} positions/s\n{len(self.trials)} "
            f"settings tried in {self.seconds:.0f} s{'' if self.complete else ' (interrupted)'}"
        )
        return "\n".join(lines)


#: ``measure(setting, seconds) -> positions a second``
Measure: TypeAlias = Callable[[Setting, float], float]
#: ``on_progress(share of the work done, best trial so far or None)``
OnProgress: TypeAlias = Callable[[float, Trial | None], object]


def tune(
    engine: Engine,
    seconds: float = 60.0,
    *,
    state: Any = None,
    on_progress: OnProgress | None = None,
) -> TuneResult:
    """Find threads, batch size and leaves in flight that search fastest on this machine.

    Settings are measured in turns by positions evaluated a second inside the search; half of them
    go in each round and the rest are measured for longer. Of settings about as fast the one with
    fewer leaves in flight is taken, since those cost strength. What is found is within 5 % of the
    best of the whole grid, as far as the machine is quiet.

    Args:
        engine: tells game, evaluator and all other settings; it is not searched with.
        seconds: about how long it may take, > 0.
        state: what is searched; None = the initial state of the game.
        on_progress: called after each measurement with the share that is done (0 to 1) and the
            best trial so far.

    Returns:
        the best configuration and the table of what was tried. Ctrl-C ends it with the best so
        far; only before the first measurement has ended it raises KeyboardInterrupt.

    Raises:
        ConfigError: ``seconds`` is out of range.
        EvaluationError: the evaluator failed.

    Example:
        >>> import pyengine
        >>> engine = pyengine.Engine("connect_four", "connect4")
        >>> found = pyengine.tune(engine, seconds=0.1)
        >>> faster = pyengine.Engine("connect_four", "connect4", config=found.config)
    """
    if not isinstance(engine, Engine):
        raise ConfigError(f"engine: expected an Engine, got {short_repr(engine)}")
    seconds = number("seconds", seconds, "a number > 0", lambda given: given > 0)
    check_callback("on_progress", on_progress)
    start = engine.game.new_initial_state() if state is None else state
    on_device = not str(engine.stats()["provider"] or "CPU").startswith("CPU")
    grid = settings_for(machine.cores(), on_device)
    begun = time.monotonic()
    search = _Halving(lambda setting, span: _measure(engine, start, setting, span), on_progress)
    complete = search.run([*grid, _own(engine.config)], seconds)
    best = search.best()
    return TuneResult(
        config=best.setting.apply(engine.config),
        best=best,
        trials=search.table(),
        seconds=time.monotonic() - begun,
        complete=complete,
    )


def settings_for(cores: int, on_device: bool) -> list[Setting]:
    """Return the grid: threads up to the cores, batch sizes, and batches in flight."""
    threads = sorted({cores, *(2**i for i in range(cores.bit_length()) if 2**i <= cores)})
    found = set()
    for count, batch in itertools.product(threads, _DEVICE_BATCHES if on_device else _CPU_BATCHES):
        # On a CPU a thread evaluates one batch while it keeps none waiting; a device is fed ahead.
        for batches in {1, 2, 3, 4} if on_device else {1, count, 2 * count}:
            if batch * batches <= _MOST_IN_FLIGHT:
                found.add(Setting(in_flight=batch * batches, batch_size=batch, threads=count))
    return sorted(found)


def _own(config: SearchConfig) -> Setting:
    return Setting(
        in_flight=config.in_flight or 2 * config.batch_size,
        batch_size=config.batch_size,
        threads=config.threads or machine.cores(),
    )


def _measure(engine: Engine, state: Any, setting: Setting, seconds: float) -> float:
    """Search with a new engine, first unmeasured until all leaves in flight are in use."""
    config = setting.apply(engine.config)
    done = spent = 0.0
    with Engine(engine.game, engine.evaluator, config=config) as other:
        warm = other.search(state, simulations=4 * setting.in_flight, seconds=seconds / 2)
        wanted = seconds - min(warm.seconds, seconds / 2)
        while spent < wanted:
            result = other.search(state, simulations=None, seconds=wanted - spent)
            done += result.evaluations or result.simulations
            spent += max(result.seconds, 1e-6)
            if result.stop_reason == "proven" or not result.evaluations:
                other.clear()  # it ended at once, or the cache knows everything
    return done / spent


@dataclass
class _Halving:
    """Rounds of measurements; the better half goes on to the next round."""

    measure: Measure
    on_progress: OnProgress | None = None
    rates: dict[Setting, list[float]] = field(default_factory=dict)  #: of its last whole round
    counts: dict[Setting, int] = field(default_factory=dict)
    rounds: dict[Setting, int] = field(default_factory=dict)

    def run(self, settings: Sequence[Setting], seconds: float) -> bool:
        """Measure until few are left; return False when Ctrl-C ended it early."""
        left = sorted(set(settings))
        number = rounds_of(len(left))
        try:
            for done in range(number):
                self._round(left, seconds / number, done / number, 1 / number)
                half = max(_FINALISTS, math.ceil(len(left) / 2))
                left = sorted(left, key=self.merit, reverse=True)[:half]
        except KeyboardInterrupt:
            if not self.rates:
                raise
            return False
        return True

    def _round(self, left: list[Setting], seconds: float, begun: float, share: float) -> None:
        """Measure each setting as often as the others, in turns; every other pass backwards."""
        passes = min(_MOST_PASSES, max(1, int(seconds / (_SLICE * len(left)))))
        span = seconds / (passes * len(left))
        found: dict[Setting, list[float]] = {setting: [] for setting in left}
        total = passes * len(left)
        for turn in range(passes):
            for place, setting in enumerate(left if turn % 2 == 0 else reversed(left)):
                try:
                    found[setting].append(self.measure(setting, span))
                except KeyboardInterrupt:
                    if not self.rates:  # nothing better is known
                        self._keep(found)
                    raise
                self.counts[setting] = self.counts.get(setting, 0) + 1
                if self.on_progress is not None:
                    part = (turn * len(left) + place + 1) / total
                    self.on_progress(begun + share * part, self.best() if self.rates else None)
        self._keep(found)

    def _keep(self, found: dict[Setting, list[float]]) -> None:
        """Take what a round has measured."""
        measured = {setting: rates for setting, rates in found.items() if rates}
        self.rates.update(measured)
        for setting in measured:
            self.rounds[setting] = self.rounds.get(setting, 0) + 1

    def rate(self, setting: Setting) -> float:
        """Return positions a second."""
        return statistics.median(self.rates[setting])

    def merit(self, setting: Setting) -> float:
        """Return the rate less the price of the leaves in flight."""
        return self.rate(setting) * (1 - _PRICE * math.log2(setting.in_flight))

    def best(self) -> Trial:
        """Return the best of those that lasted longest."""
        last = max(self.rounds.values())
        return self._trial(max((s for s in self.rates if self.rounds[s] == last), key=self.merit))

    def table(self) -> tuple[Trial, ...]:
        """Return all trials, the longest lasting and fastest first."""
        trials = [self._trial(setting) for setting in self.rates]
        return tuple(sorted(trials, key=lambda trial: (trial.rounds, trial.rate), reverse=True))

    def _trial(self, setting: Setting) -> Trial:
        return Trial(setting, self.rate(setting), self.counts[setting], self.rounds[setting])


def rounds_of(count: int) -> int:
    """Return how many rounds it takes until only finalists have been measured."""
    rounds = 1
    while count > _FINALISTS:
        count = max(_FINALISTS, math.ceil(count / 2))
        rounds += 1
    return rounds
