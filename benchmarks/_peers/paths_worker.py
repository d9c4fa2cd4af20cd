"""Shortest paths with igraph and rustworkx, in a separate environment.

The first line names method, connectivity and a file with the cells. The answer to each further line
is "seconds cpu-seconds cost" of a search from corner to corner.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

DIAGONAL = math.sqrt(2)


def edges_of(free: Any, connectivity: int) -> tuple[Any, Any]:
    """Return ``[edges, 2]`` node numbers and ``[edges]`` costs, with each undirected edge once."""
    numbers = np.arange(free.size).reshape(free.shape)

    def pairs(there: Any, one: Any, other: Any) -> Any:
        return np.stack([one[there], other[there]], axis=1)

    right = pairs(free[:, :-1] & free[:, 1:], numbers[:, :-1], numbers[:, 1:])
    down = pairs(free[:-1] & free[1:], numbers[:-1], numbers[1:])
    straight = np.concatenate([right, down])
    if connectivity == 4:
        return straight, np.ones(len(straight))
    square = free[:-1, :-1] & free[:-1, 1:] & free[1:, :-1] & free[1:, 1:]
    falling = pairs(square, numbers[:-1, :-1], numbers[1:, 1:])
    rising = pairs(square, numbers[1:, :-1], numbers[:-1, 1:])
    diagonal = np.concatenate([falling, rising])
    costs = np.concatenate([np.ones(len(straight)), np.full(len(diagonal), DIAGONAL)])
    return np.concatenate([straight, diagonal]), costs


def igraph_search(free: Any, connectivity: int, method: str) -> Callable[[], float]:
    """Return a search that returns the cost."""
    import igraph

    edges, costs = edges_of(free, connectivity)
    graph = igraph.Graph(n=free.size, edges=edges)
    weights = None if method == "bfs" else costs.tolist()
    graph.es["weight"] = costs.tolist()

    def search() -> float:
        path = graph.get_shortest_path(0, free.size - 1, weights=weights, output="epath")
        return float(costs[path].sum())

    return search


def rustworkx_search(free: Any, connectivity: int, method: str) -> Callable[[], float]:
    """Return a search that returns the cost."""
    import rustworkx

    edges, costs = edges_of(free, connectivity)
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(free.size))
    graph.add_edges_from(
        [(u, v, cost) for (u, v), cost in zip(edges.tolist(), costs.tolist(), strict=True)]
    )
    width, goal = free.shape[1], free.size - 1

    def estimate(node: int) -> float:
        rows, columns = width - 1 - node // width, width - 1 - node % width
        if connectivity == 4:
            return float(rows + columns)
        return max(rows, columns) + (DIAGONAL - 1) * min(rows, columns)

    def path() -> Any:
        if method == "astar":
            return rustworkx.astar_shortest_path(graph, 0, goal.__eq__, float, estimate)
        return rustworkx.dijkstra_shortest_paths(graph, 0, goal, weight_fn=float)[goal]

    def search() -> float:
        found = list(path())
        return float(sum(graph.get_edge_data(u, v) for u, v in itertools.pairwise(found)))

    return search


LIBRARIES = {"igraph": igraph_search, "rustworkx": rustworkx_search}

name, neighbours, file = sys.stdin.readline().split(maxsplit=2)
library, _, way = name.partition("-")
ask = LIBRARIES[library](np.load(file.strip()), int(neighbours), way)
print("ready", flush=True)
for _ in sys.stdin:
    begun, used = time.perf_counter(), time.process_time()
    cost = ask()
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"{wall!r} {cpu!r} {cost!r}", flush=True)
