"""Tests of a device: its outputs, its speed, and how busy a search keeps it.

Any evaluator can be tested as a device, including one on the CPU.
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
from pyengine.doctor.report import Check, skipped, verdict
from pyengine.errors import EngineError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game, State
from pyengine.search.engine import Engine

_REFERENCE_BATCH = 16  # rows; larger batches are no faster on a CPU
_TREES = 64  # searched at once by search_many
_OPENING = 4  # maximum number of random moves before a search
_LEAST_SHARE = 0.25  # of simulations that evaluate a leaf; with fewer, the game is too small


@dataclass(frozen=True, kw_only=True)
class DeviceTest:
    """The test of one device."""

    game: Game
    device: Evaluator
    reference: Evaluator  #: the same network on the CPU
    #: Absolute error of probabilities and values. NVIDIA GPUs use TensorFloat-32, with a 10-bit
    #: mantissa, for float32 convolutions unless ``NVIDIA_TF32_OVERRIDE=0``.
    tolerance: float = 5e-3
    positions: int = 512  #: number of positions compared
    batches: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  #: rows
    seconds: float = 0.4  #: per measurement of the bare evaluator
    search_seconds: float = 2.0  #: per search
    search_batches: Sequence[int] = (8, 64, 256)  #: rows
    callers: Sequence[int] = (1, 2)  #: numbers of concurrent threads; the fastest counts
    least_saturation: float = 0.85  #: minimum positions/s of a search / those of the evaluator
    #: The same for a single tree, whose leaves collide while it is small. Measured on an H100 with
    #: a small network and 16 threads: 0.94, 0.40 and 0.35 with batches of 8, 64 and 256.
    least_saturation_of_one_tree: float = 0.25
    least_speedup: float = 1.0  #: minimum positions/s of the device / those of the CPU
    rates: dict[int, float] = field(default_factory=dict)  #: measured rows/s by batch size

    def run(self) -> Iterator[Check]:
        """Run the checks one after another and yield their results.

        An exception of the evaluator is a failed check.
        """
        states = random_states(self.game, max(self.positions, *self.batches))
        checks: dict[str, Callable[[str], Check]] = {
            "outputs": partial(self._outputs, states),
            "padding": partial(self._padding, states),
            **{f"batch {batch}": partial(self._batch, states, batch) for batch in self.batches},
            "speed-up": partial(self._speedup, states),
        }
        for batch in self.search_batches:
            for trees in (1, _TREES):
                name = f"search, batch {batch}, {'one tree' if trees == 1 else f'{trees} trees'}"
                checks[name] = partial(self._saturation, batch, trees)
        for name, check in checks.items():
            try:
                yield check(name)
            except EngineError as error:
                yield verdict(False, name, str(error))

    def _outputs(self, states: list[State], name: str) -> Check:
        states = states[: self.positions]
        policy, value = self.device.evaluate(states)
        expected_policy, expected_value = self.reference.evaluate(states)
        policy_error = float(np.abs(policy - expected_policy).max())
        value_error = float(np.abs(value - expected_value).max())
        same = float(np.mean(policy.argmax(1) == expected_policy.argmax(1)))
        return verdict(
            max(policy_error, value_error) <= self.tolerance,
            name,
            f"the largest difference from the CPU in {len(states)} positions is {policy_error:.1e} "
            f"(policy) and {value_error:.1e} (value), limit {self.tolerance:.1e}; the best move "
            f"agrees in {same:.1%}",
            policy_error=policy_error,
            value_error=value_error,
            same_first_move=same,
            tolerance=self.tolerance,
        )

    def _padding(self, states: list[State], name: str) -> Check:
        """Check that a row does not depend on the number of rows in its batch."""
        most = max(self.batches)
        full = self.device.evaluate(states[:most], batch_size=most)
        worst, worst_rows = 0.0, 1
        for rows in (n for n in (1, 3, 7, 13, 33, 65, 100, 257) if n <= most):
            partial_batch = self.device.evaluate(states[:rows], batch_size=most)
            pairs = zip(partial_batch, full, strict=True)
            error = max(float(np.abs(a - b[:rows]).max()) for a, b in pairs)
            if error > worst:
                worst, worst_rows = error, rows
        return verdict(
            worst <= self.tolerance,
            name,
            f"the largest difference between partial and full batches is {worst:.1e}"
            + (f" (at {worst_rows} rows)" if worst else ""),
            error=worst,
        )

    def _batch(self, states: list[State], batch: int, name: str) -> Check:
        by_callers = {n: rate(self.device, states[:batch], n, self.seconds) for n in self.callers}
        best = max(by_callers.values())
        self.rates[batch] = best
        spread = ", ".join(f"{rate:,.0f} from {n}" for n, rate in by_callers.items())
        return verdict(
            best > 0,
            name,
            f"{best:,.0f} positions/s ({spread} threads), {1e3 * batch / best:.2f} ms per batch",
            batch=batch,
            positions_per_second=best,
            by_callers=by_callers,
        )

    def _speedup(self, states: list[State], name: str) -> Check:
        cores = machine.cores()
        cpu = rate(self.reference, states[:_REFERENCE_BATCH], cores, self.seconds)
        batch = max(self.rates, key=lambda b: self.rates[b], default=0)
        if not batch:
            return skipped(name, "no batch could be measured")
        times = self.rates[batch] / cpu
        return verdict(
            times >= self.least_speedup,
            name,
            f"{times:.1f} times the CPU: {self.rates[batch]:,.0f} positions/s at batch {batch} "
            f"against {cpu:,.0f} on {cores} cores, expected at least {self.least_speedup:g}",
            times=times,
            cpu_positions_per_second=cpu,
        )

    def _saturation(self, batch: int, trees: int, name: str) -> Check:
        """Compare a search with the bare evaluator, measured before and after it."""
        states = random_states(self.game, batch)
        before = self._bare(states)
        searched = _search_rate(self.game, self.device, batch, trees, self.search_seconds)
        if searched["leaf_share"] < _LEAST_SHARE:
            return skipped(
                name,
                f"{self.game} is too small: only {searched['leaf_share']:.0%} of the simulations "
                "evaluate a leaf",
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


def random_states(
    game: Game, count: int, *, seed: int = 0, plies: int | None = None
) -> list[State]:
    """Return non-terminal states of random games, determined by the seed.

    ``plies`` limits the moves played; None plays to the end.
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
    """Measure positions/s with several concurrent threads and one batch per call.

    Each thread makes at least one call, after an untimed first call.
    """
    evaluator.evaluate(states, batch_size=len(states))
    start = time.perf_counter()

    def evaluate_repeatedly(_caller: int) -> int:
        calls = 0
        while not calls or time.perf_counter() < start + seconds:
            evaluator.evaluate(states, batch_size=len(states))
            calls += 1
        return calls * len(states)

    with ThreadPoolExecutor(callers) as pool:
        positions = sum(pool.map(evaluate_repeatedly, range(callers)))
    return positions / (time.perf_counter() - start)


def _search_rate(
    game: Game, device: Evaluator, batch: int, trees: int, seconds: float
) -> dict[str, Any]:
    """Search with a batch size; return positions/s, batch fill and padding.

    A single tree is warmed up first because a small tree has few leaves to evaluate at once.
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
        "leaf_share": rows / max(1, simulations),
        "fill": rows / max(1, calls),
        "padding": padding / max(1, rows + padding),
    }
