"""Shortest paths from node 0 with SciPy's Dijkstra, in a separate environment.

The first line names a file with a graph in compressed sparse rows, and the answer is the node
farthest from node 0. The answer to each further line is "seconds cpu-seconds cost" of a search,
with the cost of the path to that node.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

arrays = np.load(sys.stdin.readline().strip())
nodes = len(arrays["indptr"]) - 1
matrix = csr_array((arrays["weights"], arrays["indices"], arrays["indptr"]), shape=(nodes, nodes))
costs = dijkstra(matrix, indices=0)
farthest = int(np.where(np.isinf(costs), -1, costs).argmax())
print(farthest, flush=True)
for _ in sys.stdin:
    begun, used = time.perf_counter(), time.process_time()
    costs, _before = dijkstra(matrix, indices=0, return_predecessors=True)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"{wall!r} {cpu!r} {float(costs[farthest])!r}", flush=True)
