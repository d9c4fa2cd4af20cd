"""Judging positions outside a search: the engine's evaluator against bare ONNX Runtime."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, median, rate_of, ratios
    from .networks import Network
else:  # run as a file
    import common
    import networks
    from common import Options, Report, median, rate_of, ratios
    from networks import Network

NAME = "evaluator"
DESCRIPTION = "rows per second of the engine's evaluator and of bare ONNX Runtime, and encoding"

BATCHES = (1, 8, 32)
PAIRS = 5
#: States handed over in one call of the engine's evaluator: Python's share is then small.
STATES = 64


def engine_calls(network: Network, batch: int, threads: int) -> list[Callable[[], int]]:
    """Return a call of the engine's evaluator for each thread: encoding, network, decoding."""
    states = networks.random_states(network.game, max(batch, STATES))

    def call() -> int:
        network.evaluator.evaluate(states, batch_size=batch)
        return len(states)

    return [call] * threads


def paired_rates(network: Network, batch: int, threads: int, options: Options) -> dict[str, float]:
    """Measure bare ONNX Runtime and the evaluator in turns; return medians."""
    pairs = 1 if options.quick else PAIRS
    seconds = 0.02 if options.quick else options.seconds / (2 * pairs)
    bare = networks.bare_calls(network, batch, threads)
    engine = engine_calls(network, batch, threads)
    found = [(rate_of(engine, seconds), rate_of(bare, seconds)) for _ in range(pairs)]
    ours, theirs = zip(*found, strict=True)
    return {
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "engine/s": median([rate.wall for rate in ours]),
        **ratios(ours, theirs),
    }


def encode_time(network: Network, options: Options) -> float:
    """Return microseconds to encode a state, Python's call included."""
    states = networks.random_states(network.game, 64)
    spec = network.spec
    times: list[float] = []
    for _ in range(3 if options.quick else 50):
        begun = time.perf_counter()
        for state in states:
            state.observation_tensor(spec)
        times.append((time.perf_counter() - begun) / len(states) * 1e6)
    return median(times)


def run(options: Options) -> Report:
    """Measure every network at every batch size and number of threads."""
    report = Report(NAME, DESCRIPTION)
    for network in networks.find_networks(options):
        game = network.game.name
        with report.row(f"evaluator/{game}/{network.name}/encode") as row:
            networks.check_answers(network)
            row["us"] = encode_time(network, options)
        if report.failed:
            break
        for threads in common.thread_counts():
            for batch in BATCHES:
                name = f"evaluator/{game}/{network.name}/batch={batch},threads={threads}"
                with report.row(name) as row:
                    row.update(paired_rates(network, batch, threads, options))
    if not report.rows:
        report.notes.append(
            "no network found: none is bundled, and neither --model nor --models (or"
            " PYENGINE_SHARED) names one"
        )
    report.notes.append(
        "onnxruntime/s: the official Python session on planes that are there already, IoBinding, a"
        " session for each thread; engine/s: encoding, network and decoding of states;"
        f" medians of {PAIRS} pairs measured in turns"
    )
    return report


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
