"""Whether Gumbel AlphaZero is stronger than PUCT where simulations are few.

Both sides have the same network and as many simulations a move, one leaf of a tree in flight, no
noise and no tree from the move before. Gumbel's strength in learning is another matter: run files
for that lie in ``models/runs``.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import MatchResult, SearchConfig, machine

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check
    from .networks import Network
    from .parallel_strength import Progress, Wanted, openings_for, percent
else:  # run as a file
    import common
    import networks
    from common import Options, Report, check
    from networks import Network
    from parallel_strength import Progress, Wanted, openings_for, percent

NAME = "gumbel"
DESCRIPTION = "score of Gumbel AlphaZero against PUCT at few simulations a move"

#: Of both sides. Without random symmetries both evaluate alike, and only the search differs.
BASE = SearchConfig(
    symmetry="none", in_flight=1, batch_size=32, gumbel_noise=False, cache_entries=1 << 20
)
SIMULATIONS = (16, 32, 64)
GAMES = 1000
CONCURRENT = 64  # games
NETWORKS = ("connect4", "gomoku")
QUICK_GAMES = 2


def play(network: Network, simulations: int, wanted: Wanted, name: str) -> MatchResult:
    """Play the match, or what is missing of it in its record."""
    games = wanted.games or GAMES
    record = None
    if wanted.records is not None:
        wanted.records.mkdir(parents=True, exist_ok=True)
        record = wanted.records / (name.replace("/", "-") + ".jsonl")
    progress = Progress(name, games)
    puct = BASE.replace(simulations=simulations, threads=machine.cores())
    try:
        with (
            pyengine.Engine(
                network.game, network.evaluator, config=puct.replace(algorithm="gumbel")
            ) as ours,
            pyengine.Engine(network.game, network.evaluator, config=puct) as other,
        ):
            result = pyengine.match(
                ours,
                other,
                games=games,
                game=network.game,
                openings=openings_for(network),
                concurrent_games=CONCURRENT,
                record=record,
                names=("gumbel", "puct"),
                on_progress=progress,
            )
            collisions = ours.stats()["collisions"] + other.stats()["collisions"]
            check("one leaf of a tree never collides", collisions == 0, collisions)
    finally:
        progress.close()
    return result


def figures(result: MatchResult) -> dict[str, Any]:
    """Return a match's row, from Gumbel's view."""
    check("every game has a result", result.wins + result.draws + result.losses == result.games)
    return {
        "games": result.games,
        "won": result.wins,
        "drawn": result.draws,
        "lost": result.losses,
        "score %": round(100 * result.score, 2),
        **percent(result).columns(),
        "Elo": float(result.elo),
    }


def run(report: Report, options: Options, wanted: Wanted | None = None) -> None:
    """Play all matches; ``PYENGINE_RECORDS`` names the folder of records."""
    if wanted is None:
        folder = os.environ.get("PYENGINE_RECORDS")
        wanted = Wanted(records=Path(folder) if folder else None)
    if options.quick:
        wanted = Wanted(games=QUICK_GAMES, only=wanted.only)
    report.fingerprint = BASE.fingerprint()
    for network in networks.find_networks(report, options):
        if not options.quick and options.model is None and network.name not in NETWORKS:
            continue
        for simulations in SIMULATIONS[:1] if options.quick else SIMULATIONS:
            name = f"{NAME}/{network.game.name}/{network.name}/simulations={simulations}"
            if wanted.has(name):
                with report.row(name) as row:
                    row.update(figures(play(network, simulations, wanted, name)))
    kept = "nowhere (--records, PYENGINE_RECORDS)" if wanted.records is None else wanted.records
    report.notes.append(
        "score: of Gumbel against PUCT, equal simulations, every opening with both colours, 95 %"
        f" interval from pairs; records of the matches, with which they go on: {kept}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--records", type=Path, metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--games", type=int)
    known, rest = parser.parse_known_args(arguments)
    folder = known.records or os.environ.get("PYENGINE_RECORDS")
    wanted = Wanted(Path(folder) if folder else None, tuple(known.only), known.games)
    described = f"{DESCRIPTION}. Also: {parser.format_usage().removeprefix('usage: ').strip()}"
    return common.main(NAME, described, functools.partial(run, wanted=wanted), rest)


if __name__ == "__main__":
    sys.exit(main())
