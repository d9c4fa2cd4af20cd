"""What settings cost: rates of searches that differ in one setting, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyengine
from pyengine import SearchConfig

if TYPE_CHECKING or __package__:
    from . import networks
    from .common import Options, Rate, check, median, rate_of, ratios
    from .networks import Network
else:  # run as a file
    import networks
    from common import Options, Rate, check, median, rate_of, ratios
    from networks import Network

PAIRS = 9
CONFIG = SearchConfig(batch_size=8)
#: Settings by name: what differs, and whether simulations or rows judged are counted.
VARIANTS: Mapping[str, tuple[SearchConfig, str]] = {
    "deterministic": (CONFIG.replace(deterministic=True), "simulations"),
    "fill": (CONFIG.replace(symmetry="fill"), "rows"),
    "average": (CONFIG.replace(symmetry="average"), "rows"),
}


def search_rates(
    network: Network, config: SearchConfig, threads: int, seconds: float
) -> dict[str, Rate]:
    """Search the initial position with a new engine; return simulations and rows a second."""
    state = network.game.new_initial_state()
    with pyengine.Engine(network.game, network.evaluator, config=config, threads=threads) as engine:
        used = time.process_time()
        result = engine.search(state, seconds=seconds)
        used = time.process_time() - used
    visits = int(result.visits.sum())
    check("every simulation is one visit", visits == result.simulations, visits)
    check("the search found something to judge", result.evaluations > 0)
    return {
        "simulations": Rate(result.simulations / result.seconds, result.simulations / used),
        "rows": Rate(result.evaluations / result.seconds, result.evaluations / used),
    }


def measure(network: Network, variant: str, threads: int, options: Options) -> dict[str, float]:
    """Measure a variant and what it is held against in turns; return medians.

    ``average`` is held against bare ONNX Runtime with the same batch and threads, the others
    against the default settings.
    """
    config, counted = VARIANTS[variant]
    pairs = 1 if options.quick else PAIRS
    seconds = 0.1 if options.quick else max(0.3, options.seconds / pairs)
    bare = networks.bare_calls(network, CONFIG.batch_size, threads)
    rate_of(bare, seconds / 4)  # first calls are slower
    ours: list[Rate] = []
    theirs: list[Rate] = []
    for _ in range(pairs):
        if variant == "average":
            theirs.append(rate_of(bare, seconds))
        else:
            theirs.append(search_rates(network, CONFIG, threads, seconds)[counted])
        ours.append(search_rates(network, config, threads, seconds)[counted])
    each = [a.wall / b.wall for a, b in zip(ours, theirs, strict=True)]
    return {
        "held against/s": median([rate.wall for rate in theirs]),
        "rate/s": median([rate.wall for rate in ours]),
        **ratios(ours, theirs),
        "worst": min(each),
        "best": max(each),
    }
