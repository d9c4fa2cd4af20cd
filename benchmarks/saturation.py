"""How much of ONNX Runtime's speed is left inside the search."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Rate, Report, check, median, rate_of, ratios
    from .networks import Network
else:  # run as a file
    import common
    import networks
    from common import Options, Rate, Report, check, median, rate_of, ratios
    from networks import Network

NAME = "saturation"
DESCRIPTION = "positions per second judged inside the search over those of bare ONNX Runtime"

CONFIG = pyengine.SearchConfig(batch_size=8)
PAIRS = 7
#: The whole tree is known before the clock has run: nothing is left to judge.
TOO_SMALL = {"tic_tac_toe"}


def search_once(network: Network, threads: int, seconds: float) -> tuple[Rate, dict[str, Any]]:
    """Search the initial position with a new engine; return rows judged a second, and stats."""
    state = network.game.new_initial_state()
    with pyengine.Engine(network.game, network.evaluator, config=CONFIG, threads=threads) as engine:
        used = time.process_time()
        result = engine.search(state, seconds=seconds)
        used = time.process_time() - used
        stats = engine.stats()
    visits = int(result.visits.sum())
    check("every simulation is one visit", visits == result.simulations, visits)
    check("priors sum to 1", abs(float(result.priors.sum()) - 1) < 1e-3, result.priors.sum())
    check("the value is a value", abs(result.value) <= 1, result.value)
    check("q is finite", bool(np.isfinite(result.q[result.visits > 0]).all()))
    check("rows judged are counted once", result.evaluations == stats["evaluations"])
    return Rate(result.evaluations / result.seconds, result.evaluations / used), stats


def measure(network: Network, threads: int, options: Options) -> dict[str, float]:
    """Measure bare ONNX Runtime and the search in turns; return medians."""
    bare = networks.bare_calls(network, CONFIG.batch_size, threads)
    pairs = 1 if options.quick else PAIRS
    seconds = 0.1 if options.quick else max(0.3, options.seconds / pairs)
    theirs: list[Rate] = []
    ours: list[Rate] = []
    rate_of(bare, seconds / 4)  # first calls are slower
    for _ in range(pairs):
        theirs.append(rate_of(bare, seconds))
        rate, stats = search_once(network, threads, seconds)
        ours.append(rate)
    each = [a.wall / b.wall for a, b in zip(ours, theirs, strict=True)]
    return {
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "search/s": median([rate.wall for rate in ours]),
        **ratios(ours, theirs),
        "worst": min(each),
        "best": max(each),
        "fill": stats["mean_batch_fill"],
        "collisions/row": stats["collisions"] / max(1, stats["evaluations"]),
        "cache hits/row": stats["cache_hits"] / max(1, stats["evaluations"]),
    }


def run(options: Options) -> Report:
    """Measure every network with one thread and with two."""
    report = Report(NAME, DESCRIPTION, CONFIG.fingerprint())
    for network in networks.find_networks(options):
        if network.game.name in TOO_SMALL:
            continue
        for threads in common.thread_counts():
            knobs = f"batch={CONFIG.batch_size},threads={threads}"
            name = f"saturation/{network.game.name}/{network.name}/{knobs}"
            with report.row(name) as row:
                if threads == 1:
                    networks.check_answers(network)
                row.update(measure(network, threads, options))
    if not report.rows:
        report.notes.append(
            "no network found: none is bundled, and neither --model nor --models (or"
            " PYENGINE_SHARED) names one"
        )
    report.notes.append(
        f"medians of {PAIRS} pairs measured in turns; cpu ratio: positions a second of processor"
        " time, which other programs disturb less; fill: rows of a batch. The search's own work,"
        " its start and its cache hits all count against it"
    )
    return report


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
