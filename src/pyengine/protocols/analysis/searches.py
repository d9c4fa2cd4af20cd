"""Searches jobs: several together in shared batches, or one with reports while it runs."""

from __future__ import annotations

import functools
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any, TypeVar

from pyengine.games.game import Game
from pyengine.protocols.analysis.jobs import Job
from pyengine.protocols.analysis.positions import restricted
from pyengine.protocols.analysis.replies import Reporter
from pyengine.protocols.session import EngineFor
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult

_SIMULATIONS = 800  # without a budget
_MOST_SIMULATIONS = 2**32 - 1
_MOST_ENGINES = 2  # of games; each has a tree and a cache
_MOST_TOGETHER = 32  # positions
_TOGETHER_SECONDS = 5.0  # expected, for positions without reports
_POLL = 0.05  # seconds
_EVEN = 1000.0  # Dirichlet alpha whose noise is nearly the same for all moves

T = TypeVar("T")


class Searches:
    """Runs the jobs of one worker on an engine for each game."""

    def __init__(self, engine_for: EngineFor, max_simulations: int | None = None) -> None:
        self._engine_for, self._max_simulations = engine_for, max_simulations
        self._engines: OrderedDict[Game, Engine] = OrderedDict()
        self._rates: dict[tuple[int, int], float] = {}  # simulations per second, by board shape
        self._models: dict[str, int] = {}
        self._thread = ThreadPoolExecutor(1, "pyengine-search")

    def most_together(self, job: Job) -> int:
        """Return how many jobs like this the engine can search before a report is due.

        0 or 1 until its speed is known.
        """
        if job.is_restricted or job.visits is None:
            return 0
        query = job.query
        limits = (
            query.report_during_search_every,
            query.first_report_during_search_after,
            _half(query.override_settings.max_time),
        )
        seconds = min((limit for limit in limits if limit is not None), default=_TOGETHER_SECONDS)
        rate = self._rates.get(job.game.board_shape, 0.0)
        return min(int(seconds * rate / job.visits), _MOST_TOGETHER)

    def run(self, jobs: Sequence[Job], should_stop: Callable[[], bool]) -> list[Job]:
        """Search jobs of one kind and reply; return those that were interrupted.

        Raises EngineError if no engine can play, or the evaluator fails.
        """
        engine = self._engine(jobs[0].game)
        if len(jobs) <= self.most_together(jobs[0]):
            return self._together(engine, jobs, should_stop)
        return [job for job in jobs if not self._alone(engine, job, should_stop)]

    def clear(self) -> None:
        """Drop trees and caches, also of a running search when it ends. Thread-safe."""
        self._engines = OrderedDict()

    def models(self) -> dict[str, int]:
        """Return the batch size of each evaluator in use. Thread-safe."""
        return dict(self._models)

    def close(self) -> None:
        """Free the engines; no search may run."""
        self._thread.shutdown()
        for engine in self._engines.values():
            engine.close()

    def _engine(self, game: Game) -> Engine:
        engines = self._engines
        if game not in engines:
            engine = engines[game] = self._engine_for(game)
            self._models[repr(engine.evaluator)] = engine.config.batch_size
            if len(engines) > _MOST_ENGINES:
                engines.popitem(last=False)[1].close()
        engines.move_to_end(game)
        return engines[game]

    def _together(
        self, engine: Engine, jobs: Sequence[Job], should_stop: Callable[[], bool]
    ) -> list[Job]:
        states = [job.state() for job in jobs]
        begin = time.monotonic()
        search = functools.partial(engine.search_many, states, **self._settings(jobs[0], engine))
        results = self._interruptible(search, engine, should_stop)
        simulations = sum(result.simulations for result in results)
        self._rates[engine.game.board_shape] = simulations / (time.monotonic() - begin)
        interrupted = []
        for job, state, result in zip(jobs, states, results, strict=True):
            if result.stop_reason == "stopped" and not job.is_terminated:
                interrupted.append(job)
            else:
                _reply(Reporter(job, engine, state), job, result)
        return interrupted

    def _alone(self, engine: Engine, job: Job, should_stop: Callable[[], bool]) -> bool:
        """Search a job with reports; return whether it is finished."""
        state, query = job.state(), job.query
        reporter, moves = Reporter(job, engine, state), restricted(query, state)
        every = query.report_during_search_every or math.inf
        begin = time.monotonic()
        due = begin + (query.first_report_during_search_after or every)
        results = engine.analyze(state, every=_POLL, allow=moves, **self._settings(job, engine))
        is_interrupted = False
        with closing(results):
            for result in results:
                if is_interrupted := should_stop():
                    break
                if time.monotonic() >= due:
                    reporter.send(result, is_during_search=True)
                    due = max(due + every, time.monotonic())
        self._rates[engine.game.board_shape] = result.simulations / (time.monotonic() - begin)
        if is_interrupted and not job.is_terminated:
            return False
        _reply(reporter, job, result)
        return True

    def _settings(self, job: Job, engine: Engine) -> dict[str, Any]:
        """Return the search settings of a job; its budget replaces the engine's."""
        override, config = job.query.override_settings, engine.config
        simulations, seconds = job.visits, override.max_time
        if simulations is None and seconds is None:
            simulations, seconds = config.simulations, config.seconds
        if simulations is None and seconds is None:
            simulations = _SIMULATIONS
        if self._max_simulations is not None:
            simulations = min(simulations or self._max_simulations, self._max_simulations)
        settings: dict[str, Any] = {
            "simulations": None if simulations is None else min(simulations, _MOST_SIMULATIONS),
            "seconds": seconds,
            "reuse_tree": job.is_pondering,
        }
        if noise := min(override.wide_root_noise, 1.0):
            settings |= {"dirichlet_alpha": _EVEN, "dirichlet_fraction": noise}
        return settings

    def _interruptible(
        self, search: Callable[[], T], engine: Engine, should_stop: Callable[[], bool]
    ) -> T:
        future = self._thread.submit(search)
        while not wait([future], _POLL).done:
            if should_stop():
                engine.stop()
        return future.result()


def _reply(reporter: Reporter, job: Job, result: SearchResult) -> None:
    if not result.visits.any():
        job.answer_nothing()
    else:
        reporter.send(result, is_during_search=False)


def _half(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 2
