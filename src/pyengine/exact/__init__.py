"""Exact search: alpha-beta for games, A* and related algorithms for shortest paths."""

from pyengine.exact.graph import Graph
from pyengine.exact.grid import Grid
from pyengine.exact.path_search import AStarResult, PathProblem, astar
from pyengine.exact.puzzle import SlidingPuzzle
from pyengine.exact.recursion import minimax
from pyengine.exact.solver import Solver, SolveResult, solve

__all__ = [
    "AStarResult",
    "Graph",
    "Grid",
    "PathProblem",
    "SlidingPuzzle",
    "SolveResult",
    "Solver",
    "astar",
    "minimax",
    "solve",
]
