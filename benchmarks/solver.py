"""Exact search: time and nodes per position, compared with plain alpha-beta in the same run."""

from __future__ import annotations

import csv
import json
import math
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyengine
from pyengine import Game, State
from pyengine.exact import Solver

if TYPE_CHECKING or __package__:
    from . import common
    from .common import Options, Report, check, thread_counts
    from .intervals import median, median_columns
    from .pairs import in_turns, pace, samples
else:  # run as a script
    import common
    from common import Options, Report, check, thread_counts
    from intervals import median, median_columns
    from pairs import in_turns, pace, samples

NAME = "solver"
DESCRIPTION = "exact scores of Connect Four and Othello: time and nodes per position"

REPEATS = 6
QUICK_POSITIONS = 3
PLAIN_POSITIONS = 20
PLAIN_EMPTIES = {"connect_four": 10, "othello": 6}  # the limit for plain alpha-beta
TWO_THREADS = 1.6  # target speedup of two threads over one
TABLE_MB = 256


class Position(NamedTuple):
    """A position with its published score. None = unknown."""

    state: State
    score: int | None


@dataclass(frozen=True)
class Subject:
    """Positions solved in sequence by one solver, which keeps its table.

    Attributes:
        game: name of the game.
        name: name of the set. Connect Four uses the names of Pons.
        stones: minimum and maximum number of stones in generated positions.
        count: number of generated positions.
        figure: figure with a target on one thread: "us" per position, or "Mnodes/s".
        asked: target for that figure.
        paired: number of positions solved alternately on one and two threads. 0 = none, if a
            position takes less time than starting a thread.
    """

    game: str
    name: str
    stones: tuple[int, int]
    count: int
    asked: float
    figure: str = "us"
    paired: int = 0

    @property
    def row(self) -> str:
        """Row name without the last part."""
        return f"{NAME}/{self.game}/{self.name}"


#: Pons' sets ("Solving Connect Four", 2015), and the FFO positions with 20 or fewer empty points.
SUBJECTS = (
    Subject("connect_four", "L3_R1", (29, 37), 500, 5),
    Subject("connect_four", "L2_R1", (15, 28), 400, 100),
    Subject("connect_four", "L2_R2", (15, 28), 400, 500),
    Subject("connect_four", "L1_R1", (10, 14), 40, 60_000),
    Subject("connect_four", "L1_R2", (8, 14), 20, 200_000, paired=20),
    Subject("othello", "ffo", (44, 50), 10, 20, "Mnodes/s", paired=20),
)


def folder_of_positions() -> Path:
    """Folders of published positions: next to the checkout, or in ``$PYENGINE_SHARED``."""
    here = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("PYENGINE_SHARED", here)) / "oracles"


def published(subject: Subject) -> list[Position]:
    """Return the positions of a set, or none if its file is missing."""
    game = pyengine.load_game(subject.game)
    if subject.game == "connect_four":
        file = folder_of_positions() / "05-connect-four" / f"pons_{subject.name}.csv"
        return _pons(game, file) if file.exists() else []
    file = folder_of_positions() / "04-othello" / "ffo_endgames.jsonl"
    return _ffo(game, file) if file.exists() else []


def _pons(game: Game, file: Path) -> list[Position]:
    with file.open(newline="") as rows:
        return [
            Position(
                game.new_initial_state([int(column) - 1 for column in row["moves"]]),
                int(row["score"]),
            )
            for row in csv.DictReader(rows)
        ]


def _ffo(game: Game, file: Path) -> list[Position]:
    found = []
    for line in file.read_text().splitlines():
        case = json.loads(line)
        if case["empties"] > 20:
            continue
        rows = [case["board"][i : i + 8].replace("-", ".") for i in range(0, 64, 8)]
        state = game.state_from_board(rows, 0 if case["to_move"] == "X" else 1)
        found.append(Position(state, case["best_score"]))
    return found


def made_up(subject: Subject, seed: int = 1) -> list[Position]:
    """Return non-terminal random positions whose numbers of stones are in the set's range."""
    game = pyengine.load_game(subject.game)
    rng = random.Random(f"{subject.name} {seed}")
    return [
        Position(random_state(game, rng.randint(*subject.stones), rng), None)
        for _ in range(subject.count)
    ]


def random_state(game: Game, stones: int, rng: random.Random) -> State:
    """Return a random position with the given number of stones."""
    while True:
        state = game.new_initial_state()
        while not state.is_terminal() and stones_of(state) < stones:
            state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            return state


def stones_of(state: State) -> int:
    """Return the number of occupied points."""
    return sum(len(row) - row.count(".") for row in state.board_rows())


def empties_of(state: State) -> int:
    """Return the number of empty points."""
    return sum(row.count(".") for row in state.board_rows())


class Solved(NamedTuple):
    """A solved set: total seconds and nodes of its positions."""

    seconds: float
    nodes: int


def solve(game: str, positions: Sequence[Position], threads: int = 1) -> Solved:
    """Solve all positions with a new solver. Raise CheckError if a score is wrong."""
    solver = Solver(game, table_mb=TABLE_MB, threads=threads)
    seconds, nodes = 0.0, 0
    for state, score in positions:
        found = solver.solve(state, score=True)
        if score is not None:
            check(f"a score is {score}: {state.history()}", found.value == score, found.value)
        seconds += found.seconds
        nodes += found.nodes
    return Solved(seconds, nodes)


def plain(state: State, alpha: float = -1.0, beta: float = 1.0) -> tuple[float, int]:
    """Return the outcome for the player to move, and the nodes, of plain alpha-beta."""
    player = state.current_player()
    nodes = 1
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        if child.is_terminal():
            value = child.returns()[player]
            nodes += 1
        elif child.current_player() == player:
            value, below = plain(child, alpha, beta)
            nodes += below
        else:
            value, below = plain(child, -beta, -alpha)
            value, nodes = -value, nodes + below
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    return alpha, nodes


def measure(subject: Subject, positions: Sequence[Position], options: Options) -> dict[str, Any]:
    """Solve a set on one thread, starting from an empty table each time."""
    found = samples(pace(options, options.seconds, REPEATS), lambda: solve(subject.game, positions))
    count = len(positions)
    figures = {
        "us": [1e6 * one.seconds / count for one in found],
        "Mnodes/s": [one.nodes / one.seconds / 1e6 for one in found],
    }
    first = figures.pop(subject.figure)
    known = all(score is not None for _, score in positions)
    return {
        "asked": subject.asked if known and not options.quick else None,
        **median_columns(subject.figure, first),
        **{title: median(values) for title, values in figures.items()},
        "nodes": found[0].nodes / count,
        "positions": count,
    }


def measure_threads(
    subject: Subject, positions: Sequence[Position], options: Options
) -> dict[str, Any]:
    """Solve positions on one thread and on two, alternately."""
    rounds = in_turns(
        pace(options, options.seconds, REPEATS),
        lambda: solve(subject.game, positions, 2),
        lambda: solve(subject.game, positions, 1),
    )
    return {
        "asked": TWO_THREADS,
        **median_columns("ratio", [one.seconds / two.seconds for two, one in rounds]),
        "nodes": median([two.nodes for two, _ in rounds]) / len(positions),
        "positions": len(positions),
    }


def measure_plain(game_name: str, options: Options) -> dict[str, Any]:
    """Solve positions near the end with the solver and with plain alpha-beta, alternately."""
    game = pyengine.load_game(game_name)
    rng = random.Random(f"{game_name} plain")
    rows, columns = game.board_shape
    stones = rows * columns - PLAIN_EMPTIES[game_name]
    count = QUICK_POSITIONS if options.quick else PLAIN_POSITIONS
    states = [random_state(game, stones, rng) for _ in range(count)]

    def ours() -> Solved:
        solver = Solver(game, table_mb=TABLE_MB, threads=1)
        found = [solver.solve(state) for state in states]
        values.append([one.value for one in found])
        return Solved(sum(one.seconds for one in found), sum(one.nodes for one in found))

    def theirs() -> Solved:
        begun = time.perf_counter()
        found = [plain(state) for state in states]
        seconds = time.perf_counter() - begun
        values.append([value for value, _ in found])
        return Solved(seconds, sum(nodes for _, nodes in found))

    values: list[list[float]] = []
    rounds = in_turns(pace(options, options.seconds, REPEATS), ours, theirs)
    check("the plain search finds the same outcomes", all(one == values[0] for one in values))
    return {
        **median_columns("ratio", [b.seconds / a.seconds for a, b in rounds]),
        "us": median([1e6 * a.seconds / count for a, _ in rounds]),
        "nodes": rounds[0][0].nodes / count,
        "plain us": median([1e6 * b.seconds / count for _, b in rounds]),
        "plain nodes": rounds[0][1].nodes / count,
        "positions": count,
    }


def positions_of(subject: Subject, options: Options, notes: list[str]) -> list[Position]:
    """Return the published positions of a set, or generated positions and a note."""
    found = published(subject)
    if not found:
        notes.append(
            f"{subject.row}: no published positions beside this checkout or in $PYENGINE_SHARED;"
            " using random positions with as many stones, without targets"
        )
        found = made_up(subject)
    if options.quick:
        found = sorted(found, key=lambda position: empties_of(position.state))[:QUICK_POSITIONS]
    return found


def run(report: Report, options: Options) -> None:
    """Measure every set on one thread, some on two, and both games against plain alpha-beta."""
    for game in PLAIN_EMPTIES:
        with report.row(f"{NAME}/{game}/plain/empties={PLAIN_EMPTIES[game]}") as row:
            row.update(measure_plain(game, options))
    for subject in SUBJECTS:
        positions = positions_of(subject, options, report.notes)
        with report.row(f"{subject.row}/threads=1") as row:
            row.update(measure(subject, positions, options))
        if subject.paired and len(thread_counts()) > 1:
            spread = positions[:: math.ceil(len(positions) / subject.paired)]
            with report.row(f"{subject.row}/threads=2") as row:
                row.update(measure_threads(subject, spread, options))
    report.notes.append(
        "us: per position, including the best line, mean of the set with a shared table, median of"
        " the runs; nodes: per position; ratio of threads=2: to one thread; of plain: the time"
        " of plain alpha-beta in Python relative to the solver's, outcomes only"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
