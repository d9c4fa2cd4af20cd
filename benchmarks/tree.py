"""PUCT alone: the cost of a simulation with a free evaluator."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import pyengine

if TYPE_CHECKING or __package__:
    from . import common
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .modelled import ModelledDevice
    from .pairs import pace, samples
else:  # run as a script
    import common
    from common import Options, Report, check
    from intervals import median, median_columns
    from modelled import ModelledDevice
    from pairs import pace, samples

NAME = "tree"
DESCRIPTION = "PUCT with the uniform evaluator on one thread, solver off, from the initial position"

CONFIG = pyengine.SearchConfig(simulations=50_000, threads=1, solver=False)
REPEATS = 6
MOST_REPEATS = 100


@dataclass(frozen=True)
class Subject:
    """A game with its time limit and a won position.

    Attributes:
        name, game: display name, and text for ``load_game``.
        floor: maximum microseconds per simulation. None = no target.
        won: moves, or the rows of a board, of a position that the player to move wins in one move.
        wins: the winning moves.
    """

    name: str
    game: str
    floor: float | None
    won: list[str]
    wins: list[str]


_FOUR = ["D4", "D9", "E4", "E9", "F4", "F9", "G4", "G9"]
_OTHELLO_END = [".OXXXXXX", *["XXXXXXXX"] * 7]

#: Target in microseconds per simulation on Go 19x19 with AlphaGo Zero's planes, from the start.
PLANES_FLOOR = 4.0
PLANES_SIMULATIONS = 5_000

GO19 = Subject("go19", "go", 2.5, ["K10", "pass"], ["pass"])
SUBJECTS = [
    Subject("tic_tac_toe", "tic_tac_toe", 0.8, ["a1", "a2", "b1", "b2"], ["c1"]),
    Subject("connect_four", "connect_four", 0.8, ["1", "2", "1", "2", "1", "2"], ["1"]),
    Subject("othello", "othello", 1.2, _OTHELLO_END, ["a1"]),
    Subject("gomoku15", "gomoku", 2.0, _FOUR, ["C4", "H4"]),
    GO19,
    Subject("go9", "go(board_size=9)", None, ["E5", "pass"], ["pass"]),
]


def _won_position(subject: Subject, game: pyengine.Game) -> pyengine.State:
    if len(subject.won) == game.board_shape[0] and len(subject.won[0]) == game.board_shape[1]:
        return game.state_from_board(subject.won)
    state = game.new_initial_state()
    for move in subject.won:
        state.apply_action(state.string_to_action(move))
    return state


def check_known_position(subject: Subject, game: pyengine.Game) -> None:
    """Check that the engine plays and proves the winning move of a won position."""
    state = _won_position(subject, game)
    found = pyengine.search(state, evaluator="uniform", simulations=20_000, threads=1)
    move = state.action_to_string(found.action)
    check(f"one of {subject.wins} is played", move in subject.wins, move)
    check("the win is proven", found.proven == 1, found.proven)


def check_result(
    result: pyengine.SearchResult, simulations: int, first: pyengine.SearchResult
) -> None:
    """Check that simulations equal visits, values are in range, and a repeat is identical."""
    visits = int(result.visits.sum())
    check(f"{simulations} simulations are as many visits", visits == simulations, visits)
    values = result.q[result.visits > 0]
    check("q is in [-1, 1]", bool(np.all(np.abs(values) <= 1)), values)
    check("a repeat has the same visits", np.array_equal(result.visits, first.visits))


class Once(NamedTuple):
    """A search: microseconds per simulation of wall-clock and processor time, nodes, bytes."""

    us: float
    cpu_us: float
    nodes: int
    held: int


def measure(
    subject: Subject,
    options: Options,
    evaluator: Callable[[], Any] = lambda: "uniform",
    config: pyengine.SearchConfig = CONFIG,
) -> dict[str, Any]:
    """Search with new engines and return the medians in microseconds per simulation."""
    game = pyengine.load_game(subject.game)
    check_known_position(subject, game)
    state = game.new_initial_state()
    config = config.replace(simulations=2_000) if options.quick else config
    simulations = config.simulations or 0
    first: list[pyengine.SearchResult] = []

    def once() -> Once:
        with pyengine.Engine(game, evaluator(), config=config) as engine:
            used = time.process_time()
            result = engine.search(state)
            used = time.process_time() - used
            held = engine.stats()["bytes"]
        first.append(result)
        check_result(result, simulations, first[0])
        each = 1e6 / simulations
        return Once(result.seconds * each, used * each, result.nodes, held)

    once()  # the first is slower, and the others must reproduce it
    found = samples(pace(options, options.seconds, REPEATS, MOST_REPEATS), once)
    return {
        "asked": subject.floor,
        **median_columns("us", [one.us for one in found]),
        "best us": min(one.us for one in found),
        "cpu us": median([one.cpu_us for one in found]),
        "nodes": found[-1].nodes,
        "bytes/node": found[-1].held / found[-1].nodes,
        "repeats": len(found),
    }


def measure_with_planes(subject: Subject, options: Options) -> dict[str, Any]:
    """Measure a search that encodes AlphaGo Zero's planes and decodes a policy for every node.

    The network takes no time, so the figure is the cost of everything else in the search.
    """
    spec = pyengine.ModelSpec.alphago_zero(pyengine.load_game(subject.game))
    config = CONFIG.replace(simulations=PLANES_SIMULATIONS, symmetry="none")
    row = measure(subject, options, lambda: ModelledDevice(0, 0, streams=0, spec=spec), config)
    return row | {
        "asked": PLANES_FLOOR,
        "bytes/node": None,
    }  # a cache would be far larger than this small tree


def run(report: Report, options: Options) -> None:
    """Measure every game."""
    report.fingerprint = CONFIG.fingerprint()
    for subject in SUBJECTS:
        with report.row(f"tree/{subject.name}/uniform/threads=1") as row:
            row.update(measure(subject, options))
    with report.row("tree/go19/17 planes/threads=1") as row:
        row.update(measure_with_planes(GO19, options))
    report.notes.append(
        "us: median wall-clock time per simulation; cpu us: processor time, which other programs"
        " disturb less; 17 planes: encoded for a network that takes no time, with a policy of 362"
        " decoded; bytes/node: memory per node, including moves without a node"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
