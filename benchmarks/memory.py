"""Memory: bytes per visit, adherence to the cap, and growth over many searches."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import common, fresh
    from . import memory_probes as probes
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .pairs import pace, samples
else:  # run as a script
    import common
    import fresh
    import memory_probes as probes
    from common import Options, Report, check
    from intervals import median, median_columns
    from pairs import pace, samples

NAME = "memory"
DESCRIPTION = "resident memory: bytes per visit, the process above its cap, growth over searches"

SIMULATIONS = 1_000_000
SEARCHES = 10_000
MIB = 1 << 20
#: Allowed excess over the cap: this fraction of it plus a number of bytes.
OVER_SHARE, OVER_BYTES = 0.02, 16 * MIB


@dataclass(frozen=True)
class Subject:
    """A game with its target in bytes per visit."""

    name: str
    game: str
    asked: float


SUBJECTS = [
    Subject("go19", "go", 1_600),
    Subject("gomoku15", "gomoku", 1_050),
    Subject("othello", "othello", 120),
    Subject("connect_four", "connect_four", 110),
]

#: Game, evaluator and cap in MiB. The search runs far past the point where memory is full.
CAPS = [
    ("go19", "go", "uniform", 64),
    ("go19", "go", "uniform", 512),
    ("connect_four", "connect_four", "uniform", 64),
    ("go19", "go", "device", 256),
]
QUICK_CAP = 16


def probed(options: Options, probe: str, **arguments: Any) -> list[dict[str, Any]]:
    """Run a probe several times, each in a separate process, and return the answers."""
    return samples(pace(options), lambda: fresh.call(probes.__file__, probe, **arguments))


def visits_row(subject: Subject, options: Options) -> dict[str, Any]:
    """Return bytes per visit of a search."""
    simulations = 20_000 if options.quick else SIMULATIONS
    found = probed(options, "visits", game=subject.game, simulations=simulations)
    for one in found:
        check("every simulation is one visit", one["visits"] == simulations, one["visits"])
        check("the tree has a node for most visits", one["nodes"] > simulations // 2, one["nodes"])
    grown = [(one["after"] - one["before"]) / simulations for one in found]
    return {
        "asked": subject.asked,
        **median_columns("bytes/visit", grown),
        "counted bytes/visit": median([one["bytes"] for one in found]) / simulations,
        "nodes": found[-1]["nodes"],
    }


def cap_row(game: str, evaluator: str, mebibytes: int, options: Options) -> dict[str, Any]:
    """Return how far a process exceeded its cap during a long search."""
    if options.quick:
        mebibytes = min(mebibytes, QUICK_CAP)
    cap = mebibytes * MIB
    allowed = OVER_SHARE * cap + OVER_BYTES
    found = probed(options, "cap", game=game, evaluator=evaluator, cap=cap, quick=options.quick)
    over = [one["peak"] - one["before"] - cap for one in found]
    for one in found:
        check("every simulation is one visit", one["visits"] == one["simulations"], one["visits"])
        check("the search went on beyond what fits", one["full"] or options.quick)
    claim = f"the process stays within {allowed / MIB:.1f} MiB of its cap"
    check(claim, max(over) <= allowed, max(over))
    return {
        "asked": allowed / MIB,
        **median_columns("MiB above the cap", [each / MIB for each in over]),
        "cap MiB": mebibytes,
        "nodes": found[-1]["nodes"],
        "visits": found[-1]["visits"],
    }


def win_row(options: Options) -> dict[str, Any]:
    """Return whether a search at its cap finds a win not proven before memory was full."""
    found = fresh.call(probes.__file__, "improves", quick=options.quick)
    check("memory was full before the win was found", not found["found_when_full"], found)
    return {
        "found": int(found["found_at"] is not None),
        "full at visit": found["full_at"],
        "found at visit": found["found_at"],
    }


def value_row() -> dict[str, Any]:
    """Return how much closer to 1 a search at its cap moves the value of a won position."""
    found = fresh.call(probes.__file__, "improves", quick=False, evaluator="rollout")
    check("memory was full before the end", found["full_at"] is not None, found)
    check("the value still improves", found["value"] > found["value_when_full"], found)
    return {
        "value when full": found["value_when_full"],
        "value in the end": found["value"],
        "full at visit": found["full_at"],
        "found at visit": found["found_at"],
    }


def flat_row(game: str, options: Options) -> dict[str, Any]:
    """Return the growth of resident memory from the first tenth of the searches to the last."""
    searches = 200 if options.quick else SEARCHES
    found = probed(options, "flat", game=game, searches=searches)
    for one in found:
        check("every search had its visits", one["wrong"] == 0, one["wrong"])
    return {
        "asked": 0.01,
        **median_columns("growth", [one["last"] / one["first"] - 1 for one in found]),
        "MiB": median([one["last"] for one in found]) / MIB,
        "searches": searches,
    }


def run(report: Report, options: Options) -> None:
    """Measure everything, each figure in a separate process."""
    if not fresh.knows_memory():
        report.notes.append("this system does not report resident memory (no /proc)")
        return
    for subject in SUBJECTS:
        with report.row(f"memory/{subject.name}/uniform/visits") as row:
            row.update(visits_row(subject, options))
    for name, game, evaluator, cap in CAPS:
        with report.row(f"memory/{name}/{evaluator}/cap={cap}MiB") as row:
            row.update(cap_row(game, evaluator, cap, options))
    with report.row("memory/connect_four/uniform/win_at_the_cap") as row:
        row.update(win_row(options))
    if not options.quick:
        with report.row("memory/connect_four/rollout/value_at_the_cap") as row:
            row.update(value_row())
    for name, game in (("connect_four", "connect_four"), ("go9", "go(board_size=9)")):
        with report.row(f"memory/{name}/uniform/searches") as row:
            row.update(flat_row(game, options))
    report.notes.append(
        f"bytes/visit: growth of resident memory over a search of {SIMULATIONS:,} simulations;"
        " counted: memory reported by the engine; above the cap: peak of the process, less memory"
        " in use before the engine was created, less the cap; growth: resident memory after all"
        " searches with resets over that after a tenth of them; medians of processes"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
