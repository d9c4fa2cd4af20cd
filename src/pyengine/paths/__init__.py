"""Shortest paths by A* and its kin, over graphs, grids, sliding puzzles and users' problems."""

from pyengine.paths.graph import Graph
from pyengine.paths.grid import Grid
from pyengine.paths.own import PathProblem
from pyengine.paths.puzzle import SlidingPuzzle
from pyengine.paths.result import AStarResult
from pyengine.paths.search import astar

__all__ = ["AStarResult", "Graph", "Grid", "PathProblem", "SlidingPuzzle", "astar"]
