"""Is a device worth searching with? Its outputs, its speed, and how well a search keeps it busy.

The device is an evaluator like any other, so the CPU can be tested as one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pyengine.base import machine
from pyengine.doctor.checks import Check, skipped, verdict
from pyengine.errors import EngineError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game, State
from pyengine.search.engine import Engine

_REFERENCE_BATCH = 16  # rows: the CPU gains nothing from more
_TREES = 64  # searched at once by search_many
_OPENING = 4  # random moves before a search, at most
_LEAST_SHARE = 0.25  # of simulations that ask the network; below, the game is too small to tell


@dataclass(frozen=True, kw_only=True)
class DeviceTest:
    """The checks of one device; :meth:`run` yields them as they are made."""

    game: Game
    device: Evaluator
    reference: Evaluator  #: the same network on the CPU
    #: Of probabilities and values, absolute: TensorFloat-32, which NVIDIA's GPUs use for float32
    #: convolutions unless ``NVIDIA_TF32_OVERRIDE=0``, keeps 10 bits of a factor.
    tolerance: float = 5e-3
    positions: int = 512  #: compared
    batches: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  #: rows
    seconds: float = 0.4  #: of each measurement of the bare evaluator
    search_seconds: float = 2.0  #: of each search
    search_batches: Sequence[int] = (8, 64, 256)  #: rows
    callers: Sequence[int] = (1, 2)  #: threads that ask at once; the best counts
    least_saturation: float = 0.85  #: positions/s of a search, as a share of the bare evaluator's
    #: Of one tree, whose leaves collide while it is small: with an H100, a small network and 16
    #: threads 0.94, 0.40 and 0.35 with batches of 8, 64 and 256.
    least_saturation_of_one_tree: float = 0.25
    least_speedup: float = 1.0  #: best positions/s of the device, as a multiple of the CPU's
    rates: dict[int, float] = field(default_factory=dict)  #: rows/s by batch, as measured

    def run(self) -> Iterator[Check]:
        """Make the checks one after another; an evaluator that fails is a check that failed."""
        states = random_states(self.game, max(self.positions, *self.batches))
        yield _guarded("outputs", partial(self._outputs, states))
        yield _guarded("padding", partial(self._padding, states))
        for batch in self.batches:
            yield _guarded(f"batch {batch}", partial(self._batch, states, batch))
        yield _guarded("speed-up", partial(self._speedup, states))
        for batch in self.search_batches:
            for trees in (1, _TREES):
                name = f"search, batch {batch}, {'one tree' if trees == 1 else f'{trees} trees'}"
                yield _guarded(name, partial(self._saturation, name, batch, trees))

    def _outputs(self, states: list[State]) -> Check:
        asked = states[: self.positions]
        policy, value = self.device.evaluate(asked)
        right_policy, right_value = self.reference.evaluate(asked)
        off_policy = float(np.abs(policy - right_policy).max())
        off_value = float(np.abs(value - right_value).max())
        same = float(np.mean(policy.argmax(1) == right_policy.argmax(1)))
        return verdict(
            max(off_policy, off_value) <= self.tolerance,
            "outputs",
            f"of {len(asked)} positions differ from the CPU's by at most {off_policy:.1e} (policy)"
            f" and {off_value:.1e} (value), allowed {self.tolerance:.1e}; {same:.1%} have the same "
            "best move",
            policy_error=off_policy,
            value_error=off_value,
            same_first_move=same,
            tolerance=self.tolerance,
        )

    def _padding(self, states: list[State]) -> Check:
        """Odd numbers of rows are padded: no row may depend on how many stand beside it."""
        most = max(self.batches)
        whole = self.device.evaluate(states[:most], batch_size=most)
        worst, worst_rows = 0.0, 1
        for rows in (n for n in (1, 3, 7, 13, 33, 65, 100, 257) if n <= most):
            part = self.device.evaluate(states[:rows], batch_size=most)
            off = max(float(np.abs(a - b[:rows]).max()) for a, b in zip(part, whole, strict=True))
            if off > worst:
                worst, worst_rows = off, rows
        return verdict(
            worst <= self.tolerance,
            "padding",
            f"rows of partly filled batches differ from those of full ones by at most {worst:.1e}"
            + (f" (at {worst_rows} rows)" if worst else ""),
            error=worst,
        )

    def _batch(self, states: list[State], batch: int) -> Check:
        by_callers = {n: rate(self.device, states[:batch], n, self.seconds) for n in self.callers}
        best = max(by_callers.values())
        self.rates[batch] = best
        spread = ", ".join(f"{each:,.0f} from {n}" for n, each in by_callers.items())
        return verdict(
            best > 0,
            f"batch {batch}",
            f"{best:,.0f} positions/s ({spread} at once), {1e3 * batch / best:.2f} ms a batch",
            batch=batch,
            positions_per_second=best,
            by_callers=by_callers,
        )

    def _speedup(self, states: list[State]) -> Check:
        cores = machine.cores()
        cpu = rate(self.reference, states[:_REFERENCE_BATCH], cores, self.seconds)
        batch = max(self.rates, key=lambda b: self.rates[b], default=0)
        if not batch:
            return skipped("speed-up", "no batch could be measured")
        times = self.rates[batch] / cpu
        return verdict(
            times >= self.least_speedup,
            "speed-up",
            f"{times:.1f} times the CPU: {self.rates[batch]:,.0f} positions/s at batch {batch} "
            f"against {cpu:,.0f} on {cores} cores, expected at least {self.least_speedup:g} times",
            times=times,
            cpu_positions_per_second=cpu,
        )

    def _saturation(self, name: str, batch: int, trees: int) -> Check:
        """Compare a search with the bare evaluator, measured just before and just after it."""
        states = random_states(self.game, batch)
        before = self._bare(states)
        searched = _search_rate(self.game, self.device, batch, trees, self.search_seconds)
        if searched["asked"] < _LEAST_SHARE:
            return skipped(
                name,
                f"{self.game} is too small: only {searched['asked']:.0%} of the simulations "
                "ask the network",
            )
        bare = (before + self._bare(states)) / 2
        share = searched["positions_per_second"] / bare
        least = self.least_saturation_of_one_tree if trees == 1 else self.least_saturation
        return verdict(
            share >= least,
            name,
            f"{searched['positions_per_second']:,.0f} positions/s are {share:.0%} of the bare "
            f"evaluator's {bare:,.0f}, expected {least:.0%}; "
            f"batches hold {searched['fill']:.1f} rows, {searched['padding']:.1%} padding",
            saturation=share,
            bare_positions_per_second=bare,
            **searched,
        )

    def _bare(self, states: list[State]) -> float:
        return max(rate(self.device, states, n, self.seconds) for n in self.callers)


def _guarded(name: str, make: Callable[[], Check]) -> Check:
    """Make a check; an evaluator that fails is a check that failed."""
    try:
        return make()
    except EngineError as error:
        return verdict(False, name, str(error))


def random_states(
    game: Game, count: int, *, seed: int = 0, plies: int | None = None
) -> list[State]:
    """Return states of random games, none terminal; the same for the same seed.

    ``plies`` is the most moves played; None = to the end of the game.
    """
    most = game.max_game_length() if plies is None else plies + 1
    rng = random.Random(seed)
    states: list[State] = []
    while len(states) < count:
        state = game.new_initial_state()
        while not state.is_terminal() and len(states) < count and len(state.history()) < most:
            states.append(state.clone())
            state.apply_action(rng.choice(state.legal_actions()))
    rng.shuffle(states)
    return states


def rate(evaluator: Evaluator, states: Sequence[State], callers: int, seconds: float) -> float:
    """Return positions/s of an evaluator that several threads ask at once, one batch a call.

    Each asks at least once. The first call is not timed.
    """
    evaluator.evaluate(states, batch_size=len(states))
    start = time.perf_counter()

    def ask(_caller: int) -> int:
        calls = 0
        while not calls or time.perf_counter() < start + seconds:
            evaluator.evaluate(states, batch_size=len(states))
            calls += 1
        return calls * len(states)

    with ThreadPoolExecutor(callers) as pool:
        asked = sum(pool.map(ask, range(callers)))
    return asked / (time.perf_counter() - start)


def _search_rate(
    game: Game, device: Evaluator, batch: int, trees: int, seconds: float
) -> dict[str, Any]:
    """Search with a batch size; return positions/s, how full batches were, and the padding.

    One tree is warmed up first: few leaves may wait at once while it is small.
    """
    states = random_states(game, trees, plies=_OPENING if trees > 1 else 0)
    with Engine(game, device, batch_size=batch, cache_entries=0, solver=False) as engine:
        if trees == 1:
            engine.search(states[0], seconds=seconds / 2)
        before, start = engine.stats(), time.perf_counter()
        if trees == 1:
            results = [engine.search(states[0], seconds=seconds)]
        else:
            results = engine.search_many(states, seconds=seconds)
        took, after = time.perf_counter() - start, engine.stats()
    rows, padding, calls = (
        after[name] - before[name] for name in ("evaluations", "padding", "batches")
    )
    simulations = sum(result.simulations for result in results)
    return {
        "batch": batch,
        "trees": trees,
        "positions_per_second": rows / took,
        "asked": rows / max(1, simulations),
        "fill": rows / max(1, calls),
        "padding": padding / max(1, rows + padding),
    }
