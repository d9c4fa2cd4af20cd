"""pyengine.astar: known costs, guarantees, users' problems, limits, bad input."""

from __future__ import annotations

import copy
import math
import pickle
import random
import time
from collections.abc import Iterator
from itertools import count, repeat
from typing import Any

import numpy as np
import pytest

from interrupted import AlarmError, alarm
from pyengine import AStarResult, ConfigError, Graph, Grid, SlidingPuzzle, astar

GOAL_8 = tuple(range(9))
SMALL = {
    "indptr": np.array([0, 2, 3, 3, 3]),
    "indices": np.array([1, 2, 2]),
    "weights": np.array([1.0, 5.0, 2.0]),
}


def small_graph(**changes: Any) -> Graph:
    """Return 0 -> 1 -> 2 with cost 3 and 0 -> 2 with cost 5; nothing leads to 3."""
    return Graph.from_csr(**{**SMALL, **changes})


class Dict:
    """A user's problem: a dict of dicts and a dict of estimates."""

    def __init__(self, edges: dict[Any, dict[Any, float]], h: dict[Any, float] | None = None):
        self.edges = edges
        self.h = h or {}

    def successors(self, node: Any) -> Iterator[tuple[Any, float]]:
        yield from self.edges.get(node, {}).items()

    def heuristic(self, node: Any) -> float:
        return self.h.get(node, 0)


class Own:
    """A user's problem without estimates."""

    def __init__(self, successors: Any):
        self.successors = successors

    def heuristic(self, node: Any) -> float:
        return 0


#: h is admissible but not consistent: b is closed before its cheapest path is result.
INCONSISTENT = Dict({"s": {"a": 1, "b": 3}, "a": {"b": 1}, "b": {"g": 3}}, {"a": 4, "b": 0})


def test_costs_are_those_of_networkx_on_random_graphs() -> None:
    networkx = pytest.importorskip("networkx")
    for seed in range(40):
        rng = random.Random(seed)
        nodes = rng.randrange(2, 40)
        graph = networkx.gnp_random_graph(nodes, rng.random(), seed=rng, directed=True)
        for _, _, edge in graph.edges(data=True):
            edge["weight"] = rng.choice([0.0, 0.25, 1.5, 7.0])
        csr = networkx.to_scipy_sparse_array(graph, weight=None, format="csr", dtype=float)
        weights = [graph[u][int(v)]["weight"] for u, v in zip(*csr.nonzero(), strict=True)]
        ours = Graph.from_csr(csr.indptr, csr.indices, np.array(weights, dtype=float))
        truth = networkx.single_source_dijkstra_path_length(graph.reverse(), nodes - 1)
        h = np.array([truth.get(node, 100.0) * rng.random() for node in range(nodes)])
        users = Dict({u: {v: e["weight"] for v, e in graph[u].items()} for u in graph})
        for result in (
            astar(ours, 0, nodes - 1),
            astar(ours, 0, nodes - 1, h=h),
            astar(users, 0, nodes - 1),
            astar(users, 0, [nodes - 1], h=lambda node, h=h: h[node]),
        ):
            assert result.cost == truth.get(0, math.inf)
            assert result.optimal == (result.path is not None) == (0 in truth)
            if result.path is not None:
                steps = zip(result.path, result.path[1:], strict=False)
                assert sum(graph[u][v]["weight"] for u, v in steps) == result.cost


@pytest.mark.parametrize(
    ("form", "dtype"), [("coo", "bool"), ("csc", "int8"), ("csr", "float32"), ("lil", "int64")]
)
def test_scipy_matrices_of_any_form_and_dtype_are_graphs(form: str, dtype: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]], dtype)
    result = astar(Graph.from_scipy(sparse.coo_array(dense).asformat(form)), 0, 2)
    assert (result.path, result.cost) == (([0, 2], 1) if dtype == "bool" else ([0, 1, 2], 3))
    weight = np.array([100, 100, 100], dtype)  # per edge: their sum may exceed the dtype
    twice = sparse.coo_array((weight, ([0, 0, 0], [1, 1, 1])), shape=(2, 2))
    assert astar(Graph.from_scipy(twice), 0, 1).cost == 3 * float(weight[0])


def test_csr_matrices_are_used_without_a_copy() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 1.0, 5.0], [0, 0, 2.0], [0, 0, 0]])
    for matrix in (sparse.csr_array(dense), sparse.csr_matrix(dense, dtype=np.float32)):
        graph = Graph.from_scipy(matrix)
        assert astar(graph, 0, 2).path == [0, 1, 2]
        matrix.data[:] = [1, 2, 2]
        assert astar(graph, 0, 2).path == [0, 2]
    with pytest.raises(ConfigError, match="a square matrix"):
        Graph.from_scipy(sparse.csr_array(dense[:2]))


@pytest.mark.parametrize(
    ("rows", "columns", "weights"),
    [("uint8", "int16", "uint8"), ("int32", "int32", "float32"), ("int64", "uint64", "float16"),
     (">i4", "int32", ">f8")],
)  # fmt: skip
def test_arrays_of_any_numeric_dtype_and_stride_make_a_graph(
    rows: str, columns: str, weights: str
) -> None:
    graph = small_graph(
        indptr=SMALL["indptr"].astype(rows),
        indices=SMALL["indices"].astype(columns),
        weights=np.repeat(SMALL["weights"].astype(weights), 2)[::2],
    )
    assert (astar(graph, 0, 2).path, astar(graph, 0, 2).cost) == ([0, 1, 2], 3)
    empty = Graph.from_csr([0, 0, 0], [], [])
    assert (astar(empty, 1, 1).path, astar(empty, 0, 1).path) == ([1], None)


@pytest.mark.parametrize(
    ("problem", "start", "goal"),
    [
        (small_graph(h=[3, 2, 0, 0]), 0, 2),
        (small_graph(weights=np.array([1, 5, 2], np.float32)), 0, 2),
        (Grid(np.ones((5, 6), dtype=bool), 8, corner_cutting=True), (0, 0), (4, 5)),
        (SlidingPuzzle(3, 3), (1, 4, 2, 3, 0, 5, 6, 7, 8), GOAL_8),
    ],
)
def test_problems_pickle_and_copy(problem: Any, start: Any, goal: Any) -> None:
    expected = astar(problem, start, goal)
    for again in (
        pickle.loads(pickle.dumps(problem)),
        copy.copy(problem),
        copy.deepcopy(problem),
    ):
        result = astar(again, start, goal)
        assert (result.path, result.expanded) == (expected.path, expected.expanded)
        assert repr(again) == repr(problem)


def test_an_inconsistent_heuristic_reopens_and_is_optimal() -> None:
    result = astar(INCONSISTENT, "s", "g")
    assert (result.path, result.cost) == (["s", "a", "b", "g"], 5)
    assert (result.reopened, result.expanded, result.optimal) == (1, 4, True)
    assert astar(INCONSISTENT, "s", "g", h=0).reopened == 0


def test_a_users_heuristic_that_exceeds_the_cost_is_detected() -> None:
    result = astar(Dict({"s": {"a": 1}, "a": {"g": 1}}, {"a": 3}), "s", "g")
    assert (result.cost, result.optimal) == (2, False)


@pytest.mark.parametrize("step", [0.1, 1.7])
def test_rounding_of_long_sums_does_not_contradict_the_heuristic(step: float) -> None:
    n = 20_000

    class Line(Own):
        def heuristic(self, node: int) -> float:
            return (n - node) * step

    line = Line(lambda node: [(node + 1, step)] if node < n else [])
    result = astar(line, 0, n)
    assert (result.optimal, result.bound) == (True, 1.0)


def test_the_arguments_of_a_grid_are_used() -> None:
    free = np.array([[True, False], [True, True]])
    costs = [
        astar(Grid(free, connectivity, cutting), (0, 0), (1, 1)).cost
        for connectivity, cutting in ((4, False), (8, False), (8, True))
    ]
    assert costs == [2, 2, math.sqrt(2)]
    for h in ("manhattan", "octile", "euclidean", np.zeros((2, 2))):
        assert astar(Grid(free), (0, 0), (1, 1), h=h).cost == 2


def test_status_shows_open_and_closed_nodes() -> None:
    grid = Grid(np.ones((5, 7), dtype=bool))
    result = astar(grid, (2, 0), (2, 6), keep_status=True)
    assert result.status is not None
    assert (result.status.shape, result.status.dtype) == ((5, 7), np.uint8)
    assert int((result.status == 2).sum()) == result.expanded == 6
    assert astar(grid, (2, 0), (2, 6)).status is None
    result = astar(small_graph(), 0, 2, keep_status=True)
    assert result.status is not None
    assert result.status.tolist() == [2, 2, 1, 0]
    for problem, start, goal in ((small_graph(), 0, 2), (grid, (2, 0), (2, 6))):
        for limits in ({"method": "ida"}, {"memory_limit": 1}):
            assert astar(problem, start, goal, keep_status=True, **limits).status is None
    large = Grid(np.ones((300, 300), dtype=bool))
    need = astar(large, (0, 0), (299, 299)).bytes
    assert astar(large, (0, 0), (299, 299), keep_status=True).bytes >= need + 300 * 300


@pytest.mark.parametrize("method", ["astar", "ida"])
def test_puzzles_are_solved_with_the_fewest_moves(method: str) -> None:
    puzzle = SlidingPuzzle(3, 3)
    start = (8, 7, 6, 0, 4, 1, 2, 5, 3)
    for h in (None, "manhattan", "misplaced") if method == "astar" else (None, "manhattan"):
        result = astar(puzzle, start, GOAL_8, h=h, method=method)
        assert result.cost == 31  # the most moves that any state needs (Schofield 1967)
        assert result.path is not None
        assert (result.path[0], result.path[-1], result.optimal) == (start, GOAL_8, True)
    swapped = (0, 2, 1, 3, 4, 5, 6, 7, 8)
    assert astar(puzzle, list(swapped), [list(swapped)], method=method).cost == 0


def test_a_users_problem_may_have_a_goal_function_and_any_hashable_node() -> None:
    class Words:
        def successors(self, node: str) -> list[tuple[str, int]]:
            return [(node + letter, 1) for letter in "ab"] if len(node) < 6 else []

        def heuristic(self, node: str) -> int:
            return 6 - len(node)

    for method in ("astar", "ida"):
        result = astar(Words(), "", lambda node: node == "abbaba", method=method)
        assert result.path is not None
        assert (result.path[-1], result.cost, result.optimal) == ("abbaba", 6, True)
        result = astar(Words(), "", {"aaaaaa", "b"}, h=0, method=method)
        assert result.path == ["", "b"]


def test_an_exception_of_a_users_problem_propagates() -> None:
    class Broken(Dict):
        def successors(self, node: Any) -> Any:
            raise KeyError(node)

    for method in ("astar", "ida"):
        with pytest.raises(KeyError, match="s"):
            astar(Broken({}), "s", "g", method=method)


def test_only_the_ratio_of_the_weights_counts() -> None:
    # 0.4 against 0.1 + 0.1: products with the smallest double are all 0.
    graph = small_graph(weights=np.array([0.1, 0.4, 0.1]), h=[0.2, 0.1, 0.0, 0.0])
    for method in ("astar", "ida"):
        for weight in (5e-324, 1.0, 3e200, 1e308):
            result = astar(graph, 0, 2, weight_g=weight, weight_h=weight, method=method)
            assert (result.path, result.optimal) == ([0, 1, 2], True)
        for weight_g, weight_h in ((1.0, 1e308), (1e-200, 1e200)):
            result = astar(graph, 0, 2, weight_g=weight_g, weight_h=weight_h, method=method)
            assert result.stop_reason == "found"
            assert not result.optimal


@pytest.mark.parametrize("method", ["astar", "ida"])
def test_costs_whose_sum_overflows_are_refused(method: str) -> None:
    far = Graph.from_csr(np.array([0, 1, 2, 2]), np.array([1, 2]), np.array([1e308, 1e308]))
    assert astar(far, 0, 1, method=method).cost == 1e308
    with pytest.raises(ConfigError, match="costs: expected sums along paths below 1e308"):
        astar(far, 0, 2, method=method)
    own = Dict({"a": {"b": 1e308}, "b": {"c": 1e308}})
    with pytest.raises(ConfigError, match="costs: expected sums"):
        astar(own, "a", "c", method=method)


def test_a_puzzle_may_have_many_goals_and_keeps_to_its_limits() -> None:
    puzzle = SlidingPuzzle(4, 4)
    start = tuple(range(16))
    near = (1, 2, 0, *range(3, 16))
    assert astar(puzzle, start, [near] * 5000, memory_limit=2**20).cost == 2
    others = [tuple(row) for row in np.random.default_rng(0).permuted([start] * 500, axis=1)]
    for method in ("astar", "ida"):
        result = astar(puzzle, start, [*others, near], method=method)
        assert (result.cost, result.optimal) == (2, True)
        result = astar(puzzle, start, others, method=method, memory_limit=2**16)
        assert result.stop_reason == "memory"


@pytest.mark.parametrize("method", ["astar", "ida"])
def test_time_ends_a_search_among_the_successors_of_one_node(method: str) -> None:
    for endless in (lambda _: zip(count(1), repeat(1)), lambda _: repeat((1, 1))):
        result = astar(Own(endless), 0, -1, method=method, seconds=0.05)
        assert result.stop_reason == "seconds"


def slow_line(node: int) -> list[tuple[int, int]]:
    time.sleep(1e-4)
    return [(node + 1, 1)]


def test_the_memory_limit_ends_a_search_of_a_users_problem() -> None:
    result = astar(Own(slow_line), 0, -1, memory_limit=100_000)
    assert (result.stop_reason, result.path, result.cost) == ("memory", None, math.inf)
    assert result.bytes <= 100_000
    assert not result.optimal


@pytest.mark.parametrize("method", ["astar", "ida"])
def test_false_from_on_progress_ends_a_search(method: str) -> None:
    reports: list[AStarResult] = []

    def stop(result: AStarResult) -> bool:
        reports.append(result)
        return False

    result = astar(Own(slow_line), 0, -1, on_progress=stop, method=method)
    assert (result.stop_reason, result.path) == ("stopped", None)
    assert [report.stop_reason for report in reports] == ["running"]
    assert reports[0].expanded > 0


def test_a_signal_ends_a_search() -> None:
    tiles = (0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 1, 2)
    searches = (
        lambda: astar(SlidingPuzzle(4, 4), tiles, tuple(range(16)), h="misplaced", method="ida"),
        lambda: astar(Own(lambda node: [(node + 1, 1)]), 0, -1),
        lambda: astar(Own(lambda _: repeat((1, 1))), 0, -1),  # an iterator that holds the GIL
    )
    for search in searches:
        begun = time.perf_counter()
        with alarm(0.05), pytest.raises(AlarmError):
            search()
        assert time.perf_counter() - begun < 2


GRID = Grid(np.array([[False, True, True], [True] * 3, [True] * 3]))
PUZZLE = SlidingPuzzle(3, 3)


def ask(**arguments: Any) -> Any:
    """Return a call of astar with some arguments of the small graph replaced."""
    return lambda: astar(**{"problem": small_graph(), "start": 0, "goals": 2, **arguments})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: small_graph(indptr=np.array([0.0, 1.0])), "indptr"),
        (lambda: small_graph(weights=np.array([1, 2, 3j])), "weights"),
        (lambda: small_graph(weights=np.ones(2)), "weights: expected as many as indices"),
        (lambda: small_graph(h=[0.0]), "h: expected numbers of shape"),
        (lambda: Graph.from_scipy(np.ones((2, 2))), "matrix: expected a SciPy sparse"),
        (lambda: Grid(np.ones((3, 3))), "free"),
        (lambda: Grid(np.ones((3, 3), dtype=bool), 6), "connectivity"),
        (lambda: SlidingPuzzle(5, 5), "2 to 16 cells"),
        (ask(start=4), "start"),
        (ask(goals=-1), "goals"),
        (ask(goals=[]), "goals"),
        (ask(h=[0, 1, math.nan, 0]), r"h\[2\]"),
        (ask(method="dfs"), 'method: expected one of "astar", "ida"'),
        (ask(weight_g=-1), "weight_g"),
        (ask(weight_g=0, weight_h=0), "expected one of them above 0"),
        (ask(weight_g=0, method="ida"), "weight_g"),
        (ask(seconds=0), "seconds"),
        (ask(keep_status="no"), "keep_status"),
        (ask(memory_limit=0), "memory_limit"),
        (ask(on_progress=1), "on_progress"),
        (ask(problem=7), "problem: expected a Graph, a Grid"),
        (ask(problem=GRID, start=(0, 0), goals=(2, 2)), "start: expected a free cell"),
        (ask(problem=GRID, start=(3, 0), goals=(2, 2)), "start: expected a cell"),
        (ask(problem=GRID, start=(2, 2), goals=(1, 1), h="misplaced"), "h: expected one of"),
        (ask(problem=PUZZLE, start=(0, 1, 2), goals=GOAL_8), "start: expected the tiles 0 to 8"),
        (ask(problem=PUZZLE, start=GOAL_8, goals="x"), "goals: expected a tuple of tiles"),
        (ask(problem=PUZZLE, start=GOAL_8, goals=GOAL_8, h=[1, 2]), "h: expected 0 or one of"),
    ],
)
def test_a_bad_argument_is_refused_by_name(call: Any, name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        call()


@pytest.mark.parametrize("method", ["astar", "ida"])
@pytest.mark.parametrize(
    ("answer", "h", "message"),
    [
        ([("a", -1)], 0, "cost of at least 0 for node 's'"),
        ([("a", math.nan)], 0, "cost of at least 0 for node 's'"),
        ([("a", 1)], -2, "heuristic: .* at least 0 for node 'a'"),
        ([("a", 1)], None, "heuristic: .* at least 0 for node 'a'"),
        (None, 0, "successors: expected pairs of node and cost for node 's'"),
        ([1], 0, "successors: expected pairs of node and cost for node 's'"),
        ([([1], 1)], 0, "node: expected a hashable object"),
    ],
)
def test_a_bad_answer_from_a_users_problem_is_refused(
    answer: Any, h: Any, message: str, method: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        astar(
            Own(lambda node: answer),
            "s",
            "g",
            h=lambda node: h if node == "a" else 0,
            method=method,
        )


def test_a_users_problem_needs_a_heuristic_or_zero() -> None:
    class Bare:
        def successors(self, node: int) -> list[tuple[int, int]]:
            return [(node + 1, 1)]

    with pytest.raises(ConfigError, match=r"h: expected heuristic\(node\), a function or 0"):
        astar(Bare(), 0, 5)
    assert astar(Bare(), 0, 5, h=0).cost == 5
    with pytest.raises(ConfigError, match="goals: expected hashable nodes"):
        astar(Bare(), 0, [[5]], h=0)


def test_a_repr_shows_sizes_and_no_arrays() -> None:
    result = astar(Grid(np.ones((200, 200), bool)), (0, 0), (199, 199))
    assert repr(result).startswith("AStarResult(path=399 nodes, cost=398, expanded=")
    assert repr(small_graph()) == "Graph(4 nodes, 3 edges)"
    assert repr(GRID) == "Grid(3 x 3, 8 passable)"


def test_goals_are_a_node_or_several() -> None:
    graph, grid = small_graph(), Grid(np.ones((3, 3), dtype=bool))
    for goals in (2, [2], (2, 3), {2}, np.array([2, 3]), range(2, 4), np.int64(2), np.array(2)):
        assert astar(graph, 0, goals).cost == 3
    for goals in ((2, 0), [2, 0], [(2, 0)], ((2, 0), (2, 2)), {(2, 0)}, np.array([[2, 0], [2, 2]])):
        assert astar(grid, (0, 0), goals).cost == 2
    line = Own(lambda node: [(node + 1, 1)])
    for goals in (2, [5, 2], {2}, iter([2]), lambda node: node > 1):
        assert astar(line, 0, goals, weight_g=np.float32(1), seconds=np.int64(60)).cost == 2


@pytest.mark.parametrize("method", ["astar", "ida"])
@pytest.mark.parametrize("slow", ["successors", "heuristic"])
def test_a_time_limit_holds_if_a_users_function_is_slow(method: str, slow: str) -> None:
    begun = []

    class Slow:
        def called(self, name: str) -> None:
            if name == slow:
                begun.append(time.perf_counter())
                time.sleep(0.02)

        def successors(self, node: int) -> list[tuple[int, int]]:
            self.called("successors")
            return [(50 * node + child, 1) for child in range(1, 50)]

        def heuristic(self, node: int) -> int:
            self.called("heuristic")
            return 0

    start = time.perf_counter()
    result = astar(Slow(), 0, -1, seconds=0.1, method=method)
    assert result.stop_reason == "seconds"
    assert sum(at > start + 0.1 for at in begun) <= 1
