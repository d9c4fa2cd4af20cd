"""Speedup from a second thread, on one tree and on many."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyengine
from pyengine.base import machine

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check
    from .intervals import median
    from .pairs import Rate, in_turns, pace, ratios
else:  # run as a script
    import common
    import networks
    from common import Options, Report, check
    from intervals import median
    from pairs import Rate, in_turns, pace, ratios

NAME = "threads"
DESCRIPTION = "ratio of simulations per second with two threads to one"

ROUNDS = 10  # one thread, two threads, two engines
TREES = 64
NETWORK = "gomoku8x8_5"


@dataclass(frozen=True)
class Subject:
    """A search to measure.

    Attributes:
        name: game and evaluator, as used in row names.
        game, evaluator: arguments of ``Engine``.
        trees: number of trees searched concurrently.
        rate: approximate simulations per second on one thread, which sets the length of a search.
        asked: target ratio. None = for comparison only.
        algorithm: search algorithm.
    """

    name: str
    game: Any
    evaluator: Any
    trees: int
    rate: float
    asked: float | None
    algorithm: Literal["puct", "uct"] = "puct"


def subjects(report: Report, options: Options) -> list[Subject]:
    """Return the subjects, with a bundled network if the third-party network is missing.

    A quick run, which measures nothing, tries all networks.
    """
    found = []
    known = {network.name: network for network in networks.find_networks(report, options)}
    if options.model is None and not options.quick:
        known = {name: known[name] for name in (NETWORK, "gomoku") if name in known}
    for network in list(known.values())[: None if options.quick else 1]:
        name = f"{network.game.name}/{network.name}"
        asked = 1.95 if network.name == NETWORK else None
        found.append(Subject(name, network.game, network.evaluator, 1, 10_000, asked))
    go9 = "go(board_size=9)"
    found.append(Subject("go9/rollout", go9, "rollout", 1, 60_000, 1.85))
    playouts = [
        ("connect_four", "connect_four", 3_000_000),
        ("othello", "othello", 700_000),
        ("gomoku15", "gomoku", 700_000),
        ("go9", go9, 190_000),
    ]
    found += [Subject(f"{n}/uct", g, "rollout", 1, r, 1.9, "uct") for n, g, r in playouts]
    uniform = [("connect_four", "connect_four"), ("go9", go9), ("gomoku15", "gomoku")]
    found += [Subject(f"{n}/uniform", g, "uniform", 1, 1_500_000, 1.9) for n, g in uniform]
    many = [*uniform, ("othello", "othello")]
    found += [Subject(f"{n}/uniform", g, "uniform", TREES, 1_500_000, 1.95) for n, g in many]
    return found


@dataclass(frozen=True)
class Timed:
    """A search: simulations per second, and the fraction of thread time spent waiting."""

    rate: Rate
    waiting: float


@contextmanager
def warm_engine(subject: Subject, threads: int) -> Iterator[pyengine.Engine]:
    """Return a new engine whose threads have already run once."""
    config = pyengine.SearchConfig(
        threads=threads, algorithm=subject.algorithm, memory_limit=4 << 30
    )
    with pyengine.Engine(subject.game, subject.evaluator, config=config) as engine:
        engine.search(engine.game.new_initial_state(), simulations=1, reuse_tree=False)
        engine.clear()
        yield engine


def search(engine: pyengine.Engine, trees: int, simulations: int) -> None:
    """Search the initial position in each tree and check the results."""
    states = [engine.game.new_initial_state()] * trees
    for result in engine.search_many(states, simulations=simulations):
        visits = int(result.visits.sum())
        check("every simulation is one visit", visits == simulations, visits)
        check("the value is a value", abs(result.value) <= 1, result.value)


def search_once(subject: Subject, threads: int, simulations: int) -> Timed:
    """Search the initial position in a new engine."""
    with warm_engine(subject, threads) as engine:
        waited = engine.stats()["waiting_seconds"]
        begun, used = time.perf_counter(), time.process_time()
        search(engine, subject.trees, simulations)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        waited = engine.stats()["waiting_seconds"] - waited
    total = simulations * subject.trees
    return Timed(Rate(total / seconds, total / used), waited / (threads * seconds))


def search_twice(subject: Subject, simulations: int) -> float:
    """Search in two engines concurrently, one thread each, and return simulations per second."""
    with (
        warm_engine(subject, 1) as first,
        warm_engine(subject, 1) as second,
        ThreadPoolExecutor(2) as pool,
    ):
        begun = time.perf_counter()
        runs = [pool.submit(search, each, subject.trees, simulations) for each in (first, second)]
        for one in runs:
            one.result()
        return 2 * simulations * subject.trees / (time.perf_counter() - begun)


def measure(subject: Subject, options: Options) -> dict[str, Any]:
    """Measure one thread, two threads and two engines alternately, and return medians."""
    seconds = 0.02 if options.quick else max(0.2, options.seconds / ROUNDS)
    simulations = max(16, int(subject.rate * seconds / subject.trees))
    found = in_turns(
        pace(options, least=ROUNDS),
        lambda: search_once(subject, 1, simulations),
        lambda: search_once(subject, 2, simulations),
        lambda: search_twice(subject, simulations),
    )
    one = [each.rate for each, _, _ in found]
    two = [each.rate for _, each, _ in found]
    return {
        "asked": subject.asked,
        **ratios(two, one),
        "two engines": median([both / each.rate.wall for each, _, both in found]),
        "waiting": median([each.waiting for _, each, _ in found]),
        "1 thread/s": median([rate.wall for rate in one]),
        "2 threads/s": median([rate.wall for rate in two]),
    }


def run(report: Report, options: Options) -> None:
    """Measure every subject."""
    report.fingerprint = pyengine.SearchConfig(threads=2).fingerprint()
    if machine.cores() < 2:
        report.notes.append("one core: nothing to measure")
        return
    for subject in subjects(report, options):
        with report.row(f"threads/{subject.name}/trees={subject.trees}") as row:
            row.update(measure(subject, options))
    report.notes.append(
        "medians of rounds of one thread, two threads, and two engines with a thread each,"
        " measured alternately; two engines: relative to one, the machine's current limit; cpu"
        " ratio: simulations per second of processor time, 1 = the second thread costs nothing;"
        " waiting: fraction of the threads' time without work (also caused by other programs)"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
