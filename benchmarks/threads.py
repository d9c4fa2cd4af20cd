"""What a second thread is worth: on one tree, and on many."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import machine

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check, median
else:  # run as a file
    import common
    import networks
    from common import Options, Report, check, median

NAME = "threads"
DESCRIPTION = "simulations per second with two threads over those with one"

PAIRS = 5
TREES = 64
NETWORK = "gomoku8x8_5"


@dataclass(frozen=True)
class Subject:
    """What is searched.

    Attributes:
        name: game and evaluator, as rows are named.
        game, evaluator: as ``Engine`` takes them.
        trees: searched at once.
        rate: simulations a second of one thread, about: how long a search has to be.
        asked: the ratio that is wanted; None = for comparison.
    """

    name: str
    game: Any
    evaluator: Any
    trees: int
    rate: float
    asked: float | None


def subjects(options: Options) -> list[Subject]:
    """Return what the bars name; a bundled network where the third-party one is not at hand."""
    found = []
    known = {network.name: network for network in networks.find_networks(options)}
    if options.model is None:
        known = {name: known[name] for name in (NETWORK, "gomoku") if name in known}
    for network in list(known.values())[:1]:
        name = f"{network.game.name}/{network.name}"
        asked = 1.95 if network.name == NETWORK else None
        found.append(Subject(name, network.game, network.evaluator, 1, 10_000, asked))
    go9 = "go(board_size=9)"
    found.append(Subject("go9/rollout", go9, "rollout", 1, 60_000, 1.85))
    uniform = [("connect_four", "connect_four"), ("go9", go9), ("gomoku15", "gomoku")]
    found += [Subject(f"{n}/uniform", g, "uniform", 1, 1_500_000, 1.0) for n, g in uniform]
    many = [*uniform, ("othello", "othello")]
    found += [Subject(f"{n}/uniform", g, "uniform", TREES, 1_500_000, 1.95) for n, g in many]
    return found


@dataclass(frozen=True)
class Timed:
    """A search: simulations a second by the clock and of processor time, share spent waiting."""

    wall: float
    cpu: float
    waiting: float


@contextmanager
def warm_engine(subject: Subject, threads: int) -> Iterator[pyengine.Engine]:
    """A new engine whose threads have run once."""
    config = pyengine.SearchConfig(threads=threads, memory_limit=4 << 30)
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
    """Search in a new engine from the initial position."""
    with warm_engine(subject, threads) as engine:
        waited = engine.stats()["waiting_seconds"]
        begun, used = time.perf_counter(), time.process_time()
        search(engine, subject.trees, simulations)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        waited = engine.stats()["waiting_seconds"] - waited
    total = simulations * subject.trees
    return Timed(total / seconds, total / used, waited / (threads * seconds))


def search_twice(subject: Subject, simulations: int) -> float:
    """Search in two engines at once, a thread each: simulations a second that the machine gives."""
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


def measure(subject: Subject, options: Options) -> dict[str, float | None]:
    """Measure one thread, two threads and two engines in turns; return medians."""
    seconds = 0.02 if options.quick else max(0.2, options.seconds / PAIRS)
    simulations = max(16, int(subject.rate * seconds / subject.trees))
    found: list[tuple[Timed, Timed, float]] = []
    for _ in range(1 if options.quick else PAIRS):
        one = search_once(subject, 1, simulations)
        two = search_once(subject, 2, simulations)
        found.append((one, two, search_twice(subject, simulations)))
    return _figures(subject, found)


def _figures(subject: Subject, found: list[tuple[Timed, Timed, float]]) -> dict[str, float | None]:
    def middle(figure: Callable[[Timed, Timed, float], float]) -> float:
        return median([figure(*one) for one in found])

    return {
        "asked": subject.asked,
        "ratio": middle(lambda one, two, _: two.wall / one.wall),
        "best": max(two.wall / one.wall for one, two, _ in found),
        "cpu ratio": middle(lambda one, two, _: two.cpu / one.cpu),
        "two engines": middle(lambda one, _, both: both / one.wall),
        "waiting": middle(lambda _, two, __: two.waiting),
        "1 thread/s": middle(lambda one, _, __: one.wall),
        "2 threads/s": middle(lambda _, two, __: two.wall),
    }


def run(options: Options) -> Report:
    """Measure every subject."""
    report = Report(NAME, DESCRIPTION, pyengine.SearchConfig(threads=2).fingerprint())
    if machine.cores() < 2:
        report.notes.append("one core: nothing to measure")
        return report
    for subject in subjects(options):
        with report.row(f"threads/{subject.name}/trees={subject.trees}") as row:
            row.update(measure(subject, options))
    report.notes.append(
        f"medians of {PAIRS} rounds of one thread, two threads, and two engines with a thread each,"
        " measured in turns; two engines: over one, what the machine gives at the moment; cpu"
        " ratio: simulations a second of processor time, 1 = the second thread costs nothing;"
        " waiting: share of the threads' time without work (also while others use the machine)"
    )
    return report


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
