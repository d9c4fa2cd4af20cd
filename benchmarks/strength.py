"""Matches between two search settings that use the same evaluator.

Playouts: whether a tree improves them, and whether more of them help. Gumbel AlphaZero against PUCT
with few simulations. A search that solves leaves near the end against one that does not, at equal
time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import Engine, MatchResult, SearchConfig, State
from pyengine.base import machine
from pyengine.match import Openings

if TYPE_CHECKING or __package__:
    from . import matches
    from .common import Options, Report
    from .matches import Progress, Wanted, balanced_openings, games_of, score_of
else:  # run as a script
    import matches
    from common import Options, Report
    from matches import Progress, Wanted, balanced_openings, games_of, score_of

NAME = "strength"
DESCRIPTION = "scores of searches against each other: playouts, Gumbel AlphaZero, solved endings"

QUICK_GAMES = 2
QUICK_SIMULATIONS = 20
SECONDS = 0.02  # seconds per move in the matches at equal time
CONCURRENT = 64  # concurrent games of a network, to fill its batches

Settings = dict[str, Any]


@dataclass(frozen=True)
class Contest:
    """A match.

    Attributes:
        game: text that names the game.
        evaluator: evaluator of both sides.
        what: the question, used in the row's name.
        ours: settings of the side whose score is reported.
        other: settings of the other side. None = random moves.
        games: number of games, enough to detect the expected difference.
        openings: each is played with both colours.
        concurrent: number of concurrent games.
    """

    game: str
    evaluator: str
    what: str
    ours: Settings
    other: Settings | None
    games: int
    openings: Openings = field(default_factory=Openings)
    concurrent: int = 1

    @property
    def name(self) -> str:
        """The row's name."""
        return f"{NAME}/{self.game}/{self.evaluator}/{self.what}"


def playouts() -> Iterator[Contest]:
    """UCT against flat UCB, against itself with fewer playouts, and against random moves."""
    for simulations, games in ((2_000, 1000), (10_000, 1000)):
        yield Contest(
            "gomoku(board_size=8)",
            "rollout",
            f"uct against flat_ucb,simulations={simulations}",
            {"algorithm": "uct", "simulations": simulations},
            {"algorithm": "flat_ucb", "simulations": simulations},
            games,
        )
    for game, games in (
        ("gomoku(board_size=8)", 100),
        ("othello", 100),
        ("connect_four", 200),
        ("go(board_size=9,komi=7.0)", 60),
    ):
        few: Settings = {"algorithm": "uct", "simulations": 1_000}
        many: Settings = {"algorithm": "uct", "simulations": 10_000}
        yield Contest(game, "rollout", "simulations=10000 against 1000", many, few, games)
        yield Contest(game, "rollout", "simulations=1000 against random", few, None, games)


def gumbel() -> Iterator[Contest]:
    """Gumbel AlphaZero against PUCT, with one leaf in flight per tree and no noise."""
    for game, network in (("connect_four", "connect4"), ("gomoku", "gomoku")):
        for simulations in (16, 32, 64):
            base: Settings = {
                "simulations": simulations,
                "symmetry": "none",
                "in_flight": 1,
                "batch_size": 32,
                "threads": machine.cores(),
            }
            yield Contest(
                game,
                network,
                f"gumbel against puct,simulations={simulations}",
                base | {"algorithm": "gumbel", "gumbel_noise": False},
                base,
                1000,
                balanced_openings(game, network),
                CONCURRENT,
            )


def endings() -> Iterator[Contest]:
    """Solving leaves with few empty points, at equal time."""
    for game, evaluator, most in (
        ("othello", "rollout", (6, 8, 10)),
        ("connect_four", "rollout", (10, 14, 18)),
        ("connect_four", "connect4", (10, 14, 18)),
    ):
        for empties in most:
            yield Contest(
                game,
                evaluator,
                f"endgame_solver_empties={empties}",
                {"seconds": SECONDS, "endgame_solver_empties": empties},
                {"seconds": SECONDS},
                200,
                Openings(plies=8),
            )


CONTESTS = (*playouts(), *gumbel(), *endings())


def random_moves() -> Callable[[State], int]:
    """Return a player of random moves."""
    rng = random.Random(0)
    return lambda state: rng.choice(state.legal_actions())


def play(contest: Contest, games: int, wanted: Wanted, quick: bool) -> MatchResult:
    """Play the match, or resume it from its record."""
    name = contest.name
    game = pyengine.load_game(contest.game)
    changed = {"simulations": QUICK_SIMULATIONS, "seconds": None} if quick else {}
    progress = Progress(name, games)
    with ExitStack() as stack:
        stack.callback(progress.close)

        def player(settings: Settings | None) -> Engine | Callable[[State], int]:
            if settings is None:
                return random_moves()
            config = SearchConfig(**({"threads": 1} | settings | changed))
            return stack.enter_context(Engine(game, contest.evaluator, config=config))

        return pyengine.match(
            player(contest.ours),
            player(contest.other),
            games=games,
            game=game,
            openings=contest.openings,
            concurrent_games=contest.concurrent,
            record=wanted.record(name),
            on_progress=progress,
        )


def run(report: Report, options: Options, wanted: Wanted | None = None) -> None:
    """Play all matches. ``PYENGINE_RECORDS`` names the folder of records."""
    wanted = wanted or Wanted.by_default()
    for contest in CONTESTS:
        if not wanted.has(contest.name):
            continue
        with report.row(contest.name) as row:
            games = QUICK_GAMES if options.quick else wanted.games or contest.games
            result = play(contest, games, wanted, options.quick)
            row.update(games_of(result) | score_of(result))
    report.notes.append(
        "score: the first-named side's, every opening with both colours, 95 % interval"
        f" from pairs; match records for resuming: {wanted.kept}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return matches.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
