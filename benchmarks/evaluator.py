"""Evaluation outside a search: the engine's evaluator compared with bare ONNX Runtime."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report
    from .intervals import median, median_columns
    from .networks import Network
    from .pairs import in_turns, pace, rate_of, ratios, samples
else:  # run as a script
    import common
    import networks
    from common import Options, Report
    from intervals import median, median_columns
    from networks import Network
    from pairs import in_turns, pace, rate_of, ratios, samples

NAME = "evaluator"
DESCRIPTION = "rows per second of the engine's evaluator and of bare ONNX Runtime, and encoding"

BATCHES = (1, 8, 32)
PAIRS = 6
#: States per call of the engine's evaluator, enough to make Python's overhead small.
STATES = 64


def engine_calls(network: Network, batch: int, threads: int) -> list[Callable[[], int]]:
    """Return an evaluator call for each thread, covering encoding, network and decoding."""
    states = networks.random_states(network.game, max(batch, STATES))

    def call() -> int:
        network.evaluator.evaluate(states, batch_size=batch)
        return len(states)

    return [call] * threads


def paired_rates(network: Network, batch: int, threads: int, options: Options) -> dict[str, Any]:
    """Measure bare ONNX Runtime and the evaluator alternately and return medians."""
    seconds = 0.02 if options.quick else options.seconds / (2 * PAIRS)
    bare = networks.bare_calls(network, batch, threads)
    engine = engine_calls(network, batch, threads)
    rate_of(bare, seconds / 4)  # the first calls are slower
    rate_of(engine, seconds / 4)
    rounds = pace(options, least=PAIRS)
    found = in_turns(rounds, lambda: rate_of(engine, seconds), lambda: rate_of(bare, seconds))
    ours, theirs = zip(*found, strict=True)
    return {
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "engine/s": median([rate.wall for rate in ours]),
        **ratios(ours, theirs),
    }


def encode_times(network: Network, options: Options) -> list[float]:
    """Return the median time to encode a state in microseconds, including the Python call."""
    states = networks.random_states(network.game, 64)
    spec = network.spec

    def once() -> float:
        begun = time.perf_counter()
        for state in states:
            state.observation_tensor(spec)
        return (time.perf_counter() - begun) / len(states) * 1e6

    return samples(pace(options, least=50), once)


def measure(report: Report, network: Network, options: Options) -> None:
    """Measure a network at every batch size and thread count after checking its answers."""
    prefix = f"evaluator/{network.game.name}/{network.name}"
    right = False
    with report.row(f"{prefix}/encode") as row:
        networks.check_answers(network)
        row.update(median_columns("us", encode_times(network, options)))
        right = True
    for threads in common.thread_counts() if right else ():
        for batch in BATCHES:
            with report.row(f"{prefix}/batch={batch},threads={threads}") as row:
                row.update(paired_rates(network, batch, threads, options))


def run(report: Report, options: Options) -> None:
    """Measure every network."""
    for network in networks.find_networks(report, options):
        measure(report, network, options)
    report.notes.append(
        "onnxruntime/s: the official Python session on prepared planes, with IoBinding and a"
        " session per thread; engine/s: encoding, network and decoding of states;"
        f" medians of {PAIRS} pairs measured alternately"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
