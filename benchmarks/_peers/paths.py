"""igraph and rustworkx: shortest paths from corner to corner of a grid with obstacles."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pyengine

from . import environment
from .environment import Environment
from .pairs import SLICE, Timed, figures, repeated, timed
from .shared import Options, Report, check, in_turns, pace
from .worker import Worker

SIDE, QUICK_SIDE = 1000, 60
OBSTACLES = (0.1, 0.3)
SEED = 1
NOTE = (
    "grid rows: searches per second on a square grid from corner to corner, graphs prebuilt;"
    " igraph and rustworkx with the named methods, and the same heuristic if they take one"
)


@dataclass(frozen=True)
class Subject:
    """A shortest-path method of a peer.

    Attributes:
        connectivity: neighbours per cell. Straight moves cost 1, diagonal moves sqrt(2).
        method: the worker's name for the method.
        asked: minimum ratio. None = for comparison only.
    """

    connectivity: int
    method: str
    asked: float | None


#: With 4 neighbours all costs are 1, so breadth-first search is igraph's fastest method.
SUBJECTS = (
    Subject(4, "igraph-bfs", 2.0),
    Subject(4, "rustworkx-astar", 2.0),
    Subject(4, "rustworkx-dijkstra", 2.0),
    Subject(8, "igraph-dijkstra", None),
    Subject(8, "rustworkx-astar", 2.0),
    Subject(8, "rustworkx-dijkstra", 2.0),
)


def cells(side: int, obstacles: float) -> np.ndarray:
    """Return a square grid (True = passable) with free corners and a path between them."""
    chance = np.random.default_rng(SEED)
    while True:
        free = chance.random((side, side)) >= obstacles
        free[0, 0] = free[-1, -1] = True
        if pyengine.astar(pyengine.Grid(free), (0, 0), (side - 1, side - 1)).path is not None:
            return free


def compare(
    subject: Subject, worker: Worker, file: Path, grid: pyengine.Grid, options: Options
) -> dict[str, object]:
    """Return a row for searches from corner to corner. Building the graph is not measured."""
    corner = (np.load(file).shape[0] - 1,) * 2
    costs = [0.0, 0.0]
    span = 0.0 if options.quick else SLICE

    def peer() -> Timed:
        wall, cpu, costs[0] = map(float, worker.ask("search").split())
        return Timed(1, wall, cpu)

    def search() -> int:
        costs[1] = pyengine.astar(grid, (0, 0), corner).cost
        return 1

    worker.ask(f"{subject.method} {subject.connectivity} {file}")
    found = in_turns(
        pace(options, options.seconds), peer, lambda: repeated(lambda: timed(search), span)
    )
    same = math.isclose(*costs, rel_tol=1e-9)
    check("both find the same cost", same, costs)
    theirs, ours = zip(*found, strict=True)
    return figures(theirs, ours, None if options.quick else subject.asked)


def run(report: Report, options: Options, folder: Path) -> None:
    """Compare every method of every peer on each grid."""
    peer = Environment("paths", folder)
    peer.prepare(install=not options.quick)
    program = Path(__file__).with_name("paths_worker.py")
    side = QUICK_SIDE if options.quick else SIDE
    report.notes.append(NOTE)
    with tempfile.TemporaryDirectory() as temporary:
        for obstacles in OBSTACLES:
            free = cells(side, obstacles)
            file = Path(temporary) / f"{obstacles}.npy"
            np.save(file, free)
            for subject in SUBJECTS:
                grid = pyengine.Grid(free, subject.connectivity)
                name = f"peers/grid{subject.connectivity}/{subject.method}/obstacles={obstacles}"
                with report.row(name) as row, Worker([peer.python, "-P", program]) as worker:
                    environment.say(name)
                    row.update(compare(subject, worker, file, grid, options))
