"""Fraction of ONNX Runtime's speed that remains inside a search."""

from __future__ import annotations

import itertools
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check
    from .intervals import median
    from .networks import Network
    from .pairs import Rate, in_turns, pace, rate_of, ratios
else:  # run as a script
    import common
    import networks
    from common import Options, Report, check
    from intervals import median
    from networks import Network
    from pairs import Rate, in_turns, pace, rate_of, ratios

NAME = "saturation"
DESCRIPTION = "positions per second inside the search relative to bare ONNX Runtime"

#: No cache: a hit saves a row, which would count against the search.
CONFIG = pyengine.SearchConfig(batch_size=8, cache_entries=0)
SIMULATIONS = 10_000  # for the single tree
SEARCHES = 64
EACH = 200  # simulations of each concurrent search
LEAST_PAIRS, MOST_PAIRS = 6, 26
OPENING = 4  # plies before the concurrent searches, which would otherwise share cache entries
#: Games so small that the search completes the tree before the time is over.
TOO_SMALL = {"tic_tac_toe"}
#: Target of the ratio, by network name.
ASKED = {"go9x9_pyaq": 0.97, "connect4_sunshine": 0.95, "gomoku8x8_5": 0.93}


@dataclass(frozen=True)
class Run:
    """A search in a new engine, without the engine's setup and teardown.

    Attributes:
        rate: rows evaluated per second.
        seconds: wall-clock time.
        stats: statistics of the engine.
    """

    rate: Rate
    seconds: float
    stats: dict[str, Any]


def openings(game: pyengine.Game, count: int) -> list[pyengine.State]:
    """Return non-terminal states a few random moves after the start."""
    rng = np.random.default_rng(5)
    states: list[pyengine.State] = []
    while len(states) < count:
        state = game.new_initial_state()
        for _ in range(OPENING):
            state.apply_action(int(rng.choice(state.legal_actions())))
        states.append(state)
    return states


def search_once(
    network: Network,
    states: list[pyengine.State],
    simulations: int,
    config: pyengine.SearchConfig,
) -> Run:
    """Search one state, or several concurrently, with a new engine."""
    with pyengine.Engine(network.game, network.evaluator, config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        if len(states) == 1:
            results = [engine.search(states[0], simulations=simulations)]
        else:
            results = engine.search_many(states, simulations=simulations)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        stats = engine.stats()
    for result in results:
        check_result(result)
    rows = sum(result.evaluations for result in results)
    check("rows evaluated are counted once", rows == stats["evaluations"], rows)
    return Run(Rate(rows / seconds, rows / used), seconds, stats)


def check_result(result: pyengine.SearchResult) -> None:
    """Check that visits equal simulations and that priors and values are valid."""
    visits = int(result.visits.sum())
    check("every simulation is one visit", visits == result.simulations, visits)
    check("priors sum to 1", abs(float(result.priors.sum()) - 1) < 1e-3, result.priors.sum())
    check("the value is a value", abs(result.value) <= 1, result.value)
    check("q is finite", bool(np.isfinite(result.q[result.visits > 0]).all()))


def measure(
    network: Network, trees: int, threads: int, options: Options, **settings: Any
) -> dict[str, Any]:
    """Measure bare ONNX Runtime and the search alternately. Return medians of pairs.

    Bare ONNX Runtime runs for as long as the search before it. ``settings`` change ``CONFIG``.
    """
    config = CONFIG.replace(threads=threads, **settings)
    game = network.game
    states = [game.new_initial_state()] if trees == 1 else openings(game, trees)
    simulations = SIMULATIONS if trees == 1 else EACH
    if options.quick:
        simulations = max(4, simulations // 50)
    bare = networks.bare_calls(network, CONFIG.batch_size, threads)
    runs = [search_once(network, states, simulations, config)]  # the first calls are slower
    rate_of(bare, runs[-1].seconds / 4)

    def search() -> Run:
        runs.append(search_once(network, states, simulations, config))
        return runs[-1]

    rounds = pace(options, options.seconds, LEAST_PAIRS, MOST_PAIRS)
    found = in_turns(rounds, search, lambda: rate_of(bare, runs[-1].seconds))
    return figures(runs[1:], [rate for _, rate in found], threads)


def figures(runs: list[Run], theirs: list[Rate], threads: int) -> dict[str, Any]:
    """Return the figures of a row."""
    ours = [run.rate for run in runs]

    def a_row(counter: str) -> float:
        return median([run.stats[counter] / max(1, run.stats["evaluations"]) for run in runs])

    return {
        **ratios(ours, theirs),
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "search/s": median([rate.wall for rate in ours]),
        "fill": median([run.stats["mean_batch_fill"] for run in runs]),
        "collisions/row": a_row("collisions"),
        "cache hits/row": a_row("cache_hits"),
        "waiting": median([r.stats["waiting_seconds"] / (threads * r.seconds) for r in runs]),
    }


def run(report: Report, options: Options) -> None:
    """Measure every network with one tree and with many, on one thread and on two."""
    report.fingerprint = CONFIG.fingerprint()
    for network in networks.find_networks(report, options):
        if network.game.name in TOO_SMALL and not options.quick:
            continue
        checked = False
        for trees, threads in itertools.product((1, SEARCHES), common.thread_counts()):
            shape = f"tree={SIMULATIONS}" if trees == 1 else f"searches={SEARCHES}x{EACH}"
            knobs = f"{shape},batch={CONFIG.batch_size},threads={threads}"
            name = f"saturation/{network.game.name}/{network.name}/{knobs}"
            with report.row(name) as row:
                if not checked:
                    networks.check_answers(network)
                checked = True
                row["asked"] = ASKED.get(network.name)
                row.update(measure(network, trees, threads, options))
    report.notes.append(
        f"medians of {LEAST_PAIRS} to {MOST_PAIRS} pairs measured alternately; cpu ratio: positions"
        " per second of processor time, which other programs disturb less; fill: rows per batch;"
        " waiting: fraction of the threads' time without work. The search's own work, its start and"
        " its cache hits all count against it; creating the engine does not"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
