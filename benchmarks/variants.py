"""Cost of settings: rates of searches that differ in one setting, measured alternately."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import SearchConfig

if TYPE_CHECKING or __package__:
    from . import networks
    from .common import Options, check
    from .intervals import median
    from .networks import Network
    from .pairs import Rate, in_turns, pace, rate_of, ratios
else:  # run as a script
    import networks
    from common import Options, check
    from intervals import median
    from networks import Network
    from pairs import Rate, in_turns, pace, rate_of, ratios

PAIRS = 10
CONFIG = SearchConfig(batch_size=8)
#: Settings by name: the changed setting, and whether to count simulations or evaluated rows.
VARIANTS: Mapping[str, tuple[SearchConfig, str]] = {
    "deterministic": (CONFIG.replace(deterministic=True), "simulations"),
    "fill": (CONFIG.replace(symmetry="fill"), "rows"),
    "average": (CONFIG.replace(symmetry="average"), "rows"),
}


def search_rates(
    network: Network, config: SearchConfig, threads: int, seconds: float
) -> dict[str, Rate]:
    """Search the initial position with a new engine. Return simulations and rows per second."""
    state = network.game.new_initial_state()
    with pyengine.Engine(network.game, network.evaluator, config=config, threads=threads) as engine:
        used = time.process_time()
        result = engine.search(state, seconds=seconds)
        used = time.process_time() - used
    visits = int(result.visits.sum())
    check("every simulation is one visit", visits == result.simulations, visits)
    check("the search found something to evaluate", result.evaluations > 0)
    return {
        "simulations": Rate(result.simulations / result.seconds, result.simulations / used),
        "rows": Rate(result.evaluations / result.seconds, result.evaluations / used),
    }


def measure(network: Network, variant: str, threads: int, options: Options) -> dict[str, Any]:
    """Measure a variant and its baseline alternately, and return medians.

    The baseline of ``average`` is bare ONNX Runtime with the same batch and threads. The others are
    compared with the default settings.
    """
    config, counted = VARIANTS[variant]
    seconds = 0.1 if options.quick else max(0.3, options.seconds / PAIRS)
    bare = networks.bare_calls(network, CONFIG.batch_size, threads)
    rate_of(bare, seconds / 4)  # the first calls are slower

    def ours() -> Rate:
        return search_rates(network, config, threads, seconds)[counted]

    def theirs() -> Rate:
        if variant == "average":
            return rate_of(bare, seconds)
        return search_rates(network, CONFIG, threads, seconds)[counted]

    found = in_turns(pace(options, least=PAIRS), ours, theirs)
    rates, beside = zip(*found, strict=True)
    return {
        "held against/s": median([rate.wall for rate in beside]),
        "rate/s": median([rate.wall for rate in rates]),
        **ratios(rates, beside),
    }
