"""Matches between two settings of a search that use the same evaluator.

``contests.py`` lists the matches. ``--only`` selects rows, and ``--records`` keeps the finished
games: the same command resumes. Several processes may share a folder of records; each plays the
matches that no other one is playing.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import ConfigError, Engine, MatchResult, SearchConfig, State

if TYPE_CHECKING or __package__:
    from . import common, equal_cost, matches
    from .common import Options, Report
    from .contests import CONTESTS, Contest, Settings
    from .equal_cost import Cost
    from .matches import Progress, games_of, score_of, selects
else:  # run as a script
    import common
    import equal_cost
    import matches
    from common import Options, Report
    from contests import CONTESTS, Contest, Settings
    from equal_cost import Cost
    from matches import Progress, games_of, score_of, selects

NAME = "strength"
DESCRIPTION = "scores of searches against each other: graphs, the root, Gumbel, playouts, endings"

QUICK_GAMES = 2
QUICK_SIMULATIONS = 20
SEED = 1  # of the openings


def random_moves() -> Callable[[State], int]:
    """Return a player of random moves."""
    rng = random.Random(0)
    return lambda state: rng.choice(state.legal_actions())


def at_equal_cost(contest: Contest, cost: Cost) -> Contest:
    """Return the contest with as many simulations of the other side as cost as much as ours."""
    assert contest.other is not None
    simulations = max(1, round(contest.ours["simulations"] * cost.ratio))
    return replace(contest, other=contest.other | {"simulations": simulations})


def for_a_quick_run(contest: Contest) -> Contest:
    """Return the contest with few simulations."""
    few: Settings = {"simulations": QUICK_SIMULATIONS, "seconds": None}
    other = None if contest.other is None else contest.other | few
    return replace(contest, ours=contest.ours | few, other=other)


def play(contest: Contest, games: int, record: Path | None) -> MatchResult:
    """Play the match, or resume it from its record."""
    game = pyengine.load_game(contest.game)
    progress = Progress(contest.name, games)
    with ExitStack() as stack:
        stack.callback(progress.close)

        def player(settings: Settings | None) -> Engine | Callable[[State], int]:
            if settings is None:
                return random_moves()
            on_one_thread: Settings = {"threads": 1}
            config = SearchConfig(**(on_one_thread | settings))
            return stack.enter_context(Engine(game, contest.evaluator, config=config))

        return pyengine.match(
            player(contest.ours),
            player(contest.other),
            games=games,
            game=game,
            seed=SEED,
            openings=contest.openings,
            concurrent_games=contest.concurrent,
            record=record,
            on_progress=progress,
        )


def figures(contest: Contest, result: MatchResult, cost: Cost | None) -> dict[str, Any]:
    """Return the row of a match."""
    row = games_of(result) | score_of(result)
    if cost is not None:
        row |= {"cost ratio": cost.ratio, "their simulations": _simulations(contest.other)}
    return row


def _simulations(settings: Settings | None) -> int | None:
    return None if settings is None else settings.get("simulations")


def measure(contest: Contest, options: Options) -> dict[str, Any]:
    """Play a match and return its row."""
    games, record = options.games or contest.games, matches.record_file(options, contest.name)
    if options.quick:
        contest, games = for_a_quick_run(contest), options.games or QUICK_GAMES
    cost = None
    if contest.equal_cost:
        cost = equal_cost.saved(contest, record, games if options.quick else equal_cost.GAMES)
        contest = at_equal_cost(contest, cost)
    return figures(contest, play(contest, games, record), cost)


def from_record(contest: Contest, folder: Path) -> dict[str, Any] | None:
    """Return the row of a match as far as it was played.

    None: it has no games, or the simulations of equal cost are unknown. Raises ConfigError if the
    folder does not exist.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} does not exist")
    record = matches.record_file(Options(records=folder), contest.name)
    if record is None or not record.exists():
        return None
    cost = None
    if contest.equal_cost:
        cost = equal_cost.load(contest, record)
        if cost is None:
            return None
        contest = at_equal_cost(contest, cost)
    result = matches.recorded(record)
    return figures(contest, result, cost) if result.games else None


def run(report: Report, options: Options) -> None:
    """Play all selected matches."""
    selected = [contest for contest in CONTESTS if selects(options, contest.name)]
    for contest in selected:
        with matches.reserved(report, options, contest.name) as free:
            if free:
                with report.row(contest.name) as row:
                    row.update(measure(contest, options))
    if not selected:
        report.notes.append("no row matches --only")
    report.notes.append(
        "score, Elo: the first-named side's, every opening with both colours, 95 % interval"
        " from pairs; cost ratio: processor time of our search to the other's at equal"
        f" simulations; match records for resuming: {matches.where_recorded(options)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
