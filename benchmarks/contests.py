"""The matches of the suite ``strength``, in families that each answer one question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pyengine.match import Openings

if TYPE_CHECKING or __package__:
    from .matches import balanced_openings
else:  # run as a script
    from matches import balanced_openings

Settings = dict[str, Any]

GAMES = 400  # 200 openings with both colours
SECONDS = 0.02  # seconds per move in the matches at equal time
CONCURRENT = 64  # concurrent games of a network, to fill its batches

#: Both sides of a match with a network: serial searches, many of which share batches. On one
#: thread the same command plays the same games.
SERIAL: Settings = {
    "threads": 1,
    "symmetry": "none",
    "in_flight": 1,
    "batch_size": 32,
    "reuse_tree": False,
}

#: The best settings of exploration in models/tune_search.py.
TUNED: Settings = {"c_puct": 1.1, "c_puct_factor": 3.0, "fpu_value": 0.2}


@dataclass(frozen=True)
class Contest:
    """A match.

    Attributes:
        game: text that names the game.
        evaluator: evaluator of both sides.
        family: key of ``FAMILIES``.
        what: the question, used in the row's name.
        ours: settings of the side whose score is reported.
        other: settings of the other side. None = random moves.
        games: number of games, enough to detect the expected difference.
        openings: each is played with both colours.
        concurrent: number of concurrent games.
        equal_cost: whether the other side's simulations are scaled to cost as much as ours.
    """

    game: str
    evaluator: str
    family: str
    what: str
    ours: Settings
    other: Settings | None
    games: int = GAMES
    openings: Openings = field(default_factory=Openings)
    concurrent: int = 1
    equal_cost: bool = False

    @property
    def name(self) -> str:
        """The row's name."""
        return f"strength/{self.game}/{self.evaluator}/{self.what}"


class Cell(NamedTuple):
    """A game with its network and a number of simulations per move."""

    game: str
    evaluator: str
    simulations: int


CONNECT4 = Cell("connect_four", "connect4", 200)
GOMOKU = Cell("gomoku(board_size=9)", "gomoku", 200)
OTHELLO = Cell("othello", "othello", 200)
GO9 = Cell("go(board_size=9,komi=7)", "go9", 200)

#: The cells of every idea, the most important first.
CELLS = (
    CONNECT4,
    GOMOKU,
    OTHELLO,
    GO9,
    CONNECT4._replace(simulations=800),
    GOMOKU._replace(simulations=800),
    OTHELLO._replace(simulations=800),
    GO9._replace(simulations=800),
)


def pair(
    cell: Cell,
    family: str,
    ours: Settings,
    other: Settings,
    *,
    what: str = "",
    equal_cost: bool = False,
) -> Contest:
    """Return a match between two settings in a cell, from balanced openings."""
    simulations: Settings = {"simulations": cell.simulations}
    return Contest(
        cell.game,
        cell.evaluator,
        family,
        f"{what or family},simulations={cell.simulations}",
        SERIAL | simulations | ours,
        SERIAL | simulations | other,
        openings=balanced_openings(cell.game, cell.evaluator),
        concurrent=CONCURRENT,
        equal_cost=equal_cost,
    )


def graph() -> Iterator[Contest]:
    """A graph against a tree, with equal simulations."""
    for cell in CELLS:
        yield pair(cell, "graph", {"graph": True}, {"graph": False})


def graph_equal_cost() -> Iterator[Contest]:
    """A graph against a tree, with equal processor time."""
    for cell in CELLS:
        yield pair(cell, "graph-equal-cost", {"graph": True}, {"graph": False}, equal_cost=True)


def lcb() -> Iterator[Contest]:
    """The move with the best lower confidence bound against the most visited one."""
    for cell in CELLS:
        yield pair(cell, "lcb", {"choose": "lcb"}, {})


def c_puct_stdev() -> Iterator[Contest]:
    """Exploration that scales with the deviation of the values, with KataGo's share."""
    for cell in CELLS:
        yield pair(cell, "c_puct_stdev", {"c_puct_stdev": 0.85}, {}, what="c_puct_stdev=0.85")


def root() -> Iterator[Contest]:
    """More exploration at the root alone, as in KataGo and Lc0."""
    for cell in CELLS:
        for settings in ({"root_fpu_value": 0.1}, {"root_c_puct": 1.75}):
            [(name, value)] = settings.items()
            yield pair(cell, "root", settings, {}, what=f"{name}={value}")


def draw_value() -> Iterator[Contest]:
    """A dislike of draws: against an equal side, and against one with a quarter of the budget.

    The last needs a comparison: the same two budgets without the dislike.
    """
    dislike: Settings = {"draw_value": -0.2}
    for cell in CELLS:
        yield pair(cell, "draw_value", dislike, {}, what="draw_value=-0.2")
    for cell in (CONNECT4, GOMOKU):
        fewer: Settings = {"simulations": cell.simulations // 4}
        for settings in ({}, dislike):
            what = f"draw_value={settings.get('draw_value', 0)} against a quarter"
            yield pair(cell, "draw_value", settings, fewer, what=what)


def tuned() -> Iterator[Contest]:
    """The settings of exploration that the optimiser prefers, against the defaults."""
    for cell in (CONNECT4, GOMOKU, OTHELLO):
        for simulations in (100, 800):
            yield pair(cell._replace(simulations=simulations), "tuned", TUNED, {})


def gumbel() -> Iterator[Contest]:
    """Gumbel AlphaZero without noise against PUCT, with few simulations."""
    for cell in (CONNECT4, GOMOKU):
        for simulations in (16, 32, 64):
            ours: Settings = {"algorithm": "gumbel", "gumbel_noise": False}
            contest = pair(cell._replace(simulations=simulations), "gumbel", ours, {})
            yield replace(contest, games=1000)


def playouts() -> Iterator[Contest]:
    """UCT against flat UCB, against itself with fewer playouts, and against random moves."""
    for simulations in (2_000, 10_000):
        yield Contest(
            "gomoku(board_size=8)",
            "rollout",
            "playouts",
            f"uct against flat_ucb,simulations={simulations}",
            {"algorithm": "uct", "simulations": simulations},
            {"algorithm": "flat_ucb", "simulations": simulations},
            games=1000,
        )
    for game, games in (
        ("gomoku(board_size=8)", 100),
        ("othello", 100),
        ("connect_four", 200),
        ("go(board_size=9,komi=7.0)", 60),
    ):
        few: Settings = {"algorithm": "uct", "simulations": 1_000}
        many: Settings = {"algorithm": "uct", "simulations": 10_000}
        for what, ours, other in (
            ("simulations=10000 against 1000", many, few),
            ("simulations=1000 against random", few, None),
        ):
            yield Contest(game, "rollout", "playouts", what, ours, other, games=games)


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
                "endings",
                f"endgame_solver_empties={empties}",
                {"seconds": SECONDS, "endgame_solver_empties": empties},
                {"seconds": SECONDS},
                games=200,
                openings=Openings(plies=8),
            )


#: Titles of the families.
FAMILIES = {
    "graph": "A graph against a tree, equal simulations",
    "graph-equal-cost": "A graph against a tree, equal processor time",
    "lcb": '`choose="lcb"` against the most visited move',
    "c_puct_stdev": "`c_puct_stdev=0.85` against 0",
    "root": "More exploration at the root against the defaults",
    "draw_value": "`draw_value=-0.2` against 0",
    "tuned": "Tuned exploration against the defaults",
    "gumbel": "Gumbel AlphaZero against PUCT",
    "playouts": "Random playouts",
    "endings": "Solved endings, equal time",
}

CONTESTS = (
    *graph(),
    *graph_equal_cost(),
    *lcb(),
    *c_puct_stdev(),
    *root(),
    *draw_value(),
    *tuned(),
    *gumbel(),
    *playouts(),
    *endings(),
)
