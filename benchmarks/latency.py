"""How long calls block: freeing large trees, stopping searches, and the smallest search."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import common, fresh
    from . import latency_probes as probes
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .pairs import pace, samples
else:  # run as a script
    import common
    import fresh
    import latency_probes as probes
    from common import Options, Report, check
    from intervals import median, median_columns
    from pairs import pace, samples

NAME = "latency"
DESCRIPTION = "milliseconds (microseconds for the smallest search) that a call blocks"

NODES = 10_000_000
LARGE_MS = 1.0
STOP_MS = 10.0
SMALL_US = 50.0
TRIALS = 25


@dataclass(frozen=True)
class Stopped:
    """A search to stop: row name, game, evaluator and seconds per batch."""

    name: str
    game: str
    evaluator: str
    batch_ms: float


STOPPED = [
    Stopped("connect_four/uniform", "connect_four", "uniform", 0.0),
    Stopped("go19/rollout", "go", "rollout", 1.0),
    Stopped("go19/modelled", "go", "device", 3.3),
]
SMALLEST = [
    ("tic_tac_toe", "tic_tac_toe"),
    ("connect_four", "connect_four"),
    ("go9", "go(board_size=9)"),
    ("go19", "go"),
]


def large_rows(report: Report, options: Options) -> None:
    """Measure advance, clear and close on a large tree, and the search after them."""
    nodes = 200_000 if options.quick else NODES
    for call in ("advance", "clear", "close"):
        with report.row(f"latency/connect_four/uniform/{call},nodes={nodes}") as row:
            row.update(large_row(call, nodes, options))


def large_row(call: str, nodes: int, options: Options) -> dict[str, Any]:
    """Time a call on several large trees, each in a separate process."""
    found = samples(
        pace(options), lambda: fresh.call(probes.__file__, "large", call=call, nodes=nodes)
    )
    for one in found:
        check(f"the tree has {nodes} nodes", one["nodes"] >= 0.95 * nodes, one["nodes"])
    times = [one["ms"] for one in found]
    return {
        "asked": LARGE_MS,
        **median_columns("ms", times),
        "worst ms": max(times),
        "next search ms": median([one["next_ms"] for one in found]),
    }


def stop_row(subject: Stopped, how: str, options: Options) -> dict[str, Any]:
    """Stop searches after various times. Each must return within 10 ms plus one batch."""
    trials = 3 if options.quick else TRIALS
    found = fresh.call(
        probes.__file__,
        how,
        game=subject.game,
        evaluator=subject.evaluator,
        trials=trials,
    )
    check("every search was stopped", found["stopped"] == trials, found["stopped"])
    times = found["ms"]
    return {
        "asked": STOP_MS + subject.batch_ms,
        **median_columns("ms", times),
        "worst ms": max(times),
    }


def smallest_row(game: str, options: Options) -> dict[str, Any]:
    """Time search() with one simulation, in a tree that is reused and in one that is new."""
    calls = 50 if options.quick else 2_000
    found = fresh.call(probes.__file__, "smallest", game=game, calls=calls)
    check("each search made one simulation", found["wrong"] == 0, found["wrong"])
    return {
        "asked": SMALL_US,
        **median_columns("us", found["us"]),
        "best us": min(found["us"]),
        "us afresh": median(found["afresh_us"]),
        "best us afresh": min(found["afresh_us"]),
        "us of many moves": found["many_us"],
    }


def run(report: Report, options: Options) -> None:
    """Measure everything, each figure in a separate process."""
    large_rows(report, options)
    for subject in STOPPED:
        for how in ("stop", "interrupt"):
            with report.row(f"latency/{subject.name}/{how}") as row:
                row.update(stop_row(subject, how, options))
    for name, game in SMALLEST:
        with report.row(f"latency/{name}/uniform/simulations=1") as row:
            row.update(smallest_row(game, options))
    report.notes.append(
        "ms of advance, clear, close: the call, median over trees in separate processes; next"
        " search: one simulation right after it. stop,"
        " interrupt (SIGINT, as Ctrl-C): until search() has returned or raised, its result read;"
        f" {TRIALS} searches; target: 10 ms plus a batch. us: search(simulations=1) from Python,"
        " median of the medians of 100 calls with an existing tree; best: lowest median of"
        " 100; afresh: reuse_tree=False; of many moves: search and advance, median over a game"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
