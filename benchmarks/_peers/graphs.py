"""Dijkstra's algorithm in SciPy and in the engine, and the engine's A* on large grids."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pyengine

from . import environment
from .environment import Environment
from .pairs import SLICE, Timed, figures, repeated, timed
from .paths import cells
from .shared import Options, Report, check, in_turns, pace
from .worker import Worker

NODES, QUICK_NODES = (10_000, 100_000, 1_000_000), (1_000,)
EDGES = 8  # edges per node of a random graph
SIDE, QUICK_SIDE = 4000, 100
SEED = 1
#: Fraction of blocked cells, with the minimum ratio of A* to Dijkstra's algorithm.
OBSTACLES = ((0.0, 3.0), (0.2, 1.3))
LEAST_RATIO = 1.0  # minimum ratio to SciPy
NOTE = (
    "graph rows: searches per second from node 0 to the node farthest from it, so that both"
    " sides settle every node; SciPy returns costs and predecessors of all. own-dijkstra: A*"
    " against h=0 on a grid, corner to corner"
)

Arrays = dict[str, npt.NDArray[Any]]


def random_graph(nodes: int) -> Arrays:
    """Return a random graph with costs in [0.01, 1.01)."""
    chance = np.random.default_rng(SEED)
    return {
        "indptr": np.arange(0, nodes * EDGES + 1, EDGES, dtype=np.int32),
        "indices": chance.integers(0, nodes, nodes * EDGES, dtype=np.int32),
        "weights": chance.random(nodes * EDGES) + 0.01,
    }


def lattice(nodes: int) -> Arrays:
    """Return a street grid: a square with four neighbours per node and costs in [0.01, 1.01)."""
    side = math.isqrt(nodes)
    row, column = np.divmod(np.arange(side * side), side)
    neighbours = (
        np.stack([row - 1, row, row, row + 1], 1),
        np.stack([column, column - 1, column + 1, column], 1),
    )
    inside = np.all([(axis >= 0) & (axis < side) for axis in neighbours], axis=0)
    indices = (neighbours[0] * side + neighbours[1])[inside]
    return {
        "indptr": np.concatenate([[0], inside.sum(axis=1).cumsum()]).astype(np.int32),
        "indices": indices.astype(np.int32),
        "weights": np.random.default_rng(SEED).random(len(indices)) + 0.01,
    }


GRAPHS: dict[str, Callable[[int], Arrays]] = {"random": random_graph, "lattice": lattice}


def compare(worker: Worker, file: Path, arrays: Arrays, options: Options) -> dict[str, object]:
    """Return a row. Building the graph is not measured."""
    graph = pyengine.Graph.from_csr(**arrays)
    goal = int(worker.ask(str(file)))
    costs = [0.0, 0.0]
    span = 0.0 if options.quick else SLICE

    def peer() -> Timed:
        wall, cpu, costs[0] = map(float, worker.ask("search").split())
        return Timed(1, wall, cpu)

    def search() -> int:
        costs[1] = pyengine.astar(graph, 0, goal).cost
        return 1

    found = in_turns(
        pace(options, options.seconds),
        lambda: repeated(peer, span),
        lambda: repeated(lambda: timed(search), span),
    )
    check("both find the same cost", math.isclose(*costs, rel_tol=1e-9), costs)
    theirs, ours = zip(*found, strict=True)
    return figures(theirs, ours, None if options.quick else LEAST_RATIO)


def compare_estimates(
    side: int, obstacles: float, asked: float, options: Options
) -> dict[str, Any]:
    """Return a row with Dijkstra's algorithm as the peer and A* as ours."""
    grid = pyengine.Grid(cells(side, obstacles), connectivity=8)
    corner = (side - 1, side - 1)
    costs: dict[str | int, float] = {}

    def search(h: str | int) -> int:
        costs[h] = pyengine.astar(grid, (0, 0), corner, h=h).cost
        return 1

    found = in_turns(
        pace(options, options.seconds),
        lambda: timed(lambda: search(0)),
        lambda: timed(lambda: search("octile")),
    )
    check("both find the same cost", costs[0] == costs["octile"], costs)
    blind, led = zip(*found, strict=True)
    return figures(blind, led, None if options.quick else asked)


def run(report: Report, options: Options, folder: Path) -> None:
    """Compare on the grids, then with SciPy on each graph."""
    report.notes.append(NOTE)
    side = QUICK_SIDE if options.quick else SIDE
    for obstacles, asked in OBSTACLES:
        name = f"peers/grid8/own-dijkstra/side={side},obstacles={obstacles:g}"
        with report.row(name) as row:
            environment.say(name)
            row.update(compare_estimates(side, obstacles, asked, options))
    peer = Environment("scipy", folder)
    peer.prepare(install=not options.quick)
    program = Path(__file__).with_name("graphs_worker.py")
    with tempfile.TemporaryDirectory() as temporary:
        for nodes in QUICK_NODES if options.quick else NODES:
            for kind, make in GRAPHS.items():
                arrays = make(nodes)
                file = Path(temporary) / f"{kind}-{nodes}.npz"
                np.savez(file, **arrays)
                name = f"peers/{kind}-graph/scipy-dijkstra/nodes={nodes}"
                with report.row(name) as row, Worker([peer.python, "-P", program]) as worker:
                    environment.say(name)
                    row.update(compare(worker, file, arrays, options))
