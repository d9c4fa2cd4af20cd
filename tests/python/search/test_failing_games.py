"""A user's game that raises once: the search stops, and the next one is unaffected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyengine
from pyengine import Engine, SearchResult
from pyengine.search.tree import SearchTree
from toy_games import HIDDEN, ToyState

Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]


class FaultError(Exception):
    """Raised by the game."""


CALLED = (
    "clone",
    "current_player",
    "legal_actions",
    "apply_action",
    "is_terminal",
    "returns",
    "observation_tensor",
)


class Sticks:
    """Players take one or two of four sticks; taking the last one wins. One call raises."""

    observation_tensor_shape = (1, 1, 1)

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.failing = ("", 0)  # a method, and the number of the call that raises
        self.error: BaseException = FaultError()

    def call(self, method: str) -> None:
        """Count a call of a method, and raise if it is the chosen one."""
        self.calls[method] += 1
        if self.failing == (method, self.calls[method]):
            raise self.error

    def fail(self, method: str, call: int, error: BaseException) -> None:
        """Let a later call of a method raise the error."""
        self.calls.clear()
        self.failing = (method, call)
        self.error = error

    def num_distinct_actions(self) -> int:
        return 2

    def new_initial_state(self) -> SticksState:
        return SticksState(self)


class SticksState(ToyState):
    """Each call of a method is counted. It has no history."""

    history = HIDDEN

    def __init__(self, game: Sticks, moves: tuple[int, ...] = ()) -> None:
        super().__init__(moves)
        self.game = game

    def __getattribute__(self, name: str) -> Any:
        if name in CALLED:
            self.game.call(name)
        return super().__getattribute__(name)

    @property
    def left(self) -> int:
        return 4 - sum(self.moves) - len(self.moves)

    def clone(self) -> SticksState:
        return SticksState(self.game, self.moves)

    def legal_actions(self) -> list[int]:
        return list(range(min(2, self.left)))

    def is_terminal(self) -> bool:
        return self.left == 0

    def returns(self) -> list[float]:
        return [1.0, -1.0] if len(self.moves) % 2 == 1 else [-1.0, 1.0]

    def observation_tensor(self) -> npt.NDArray[np.float32]:
        return np.full((1, 1, 1), self.left, np.float32)

    def __eq__(self, other: object) -> bool:
        self.game.call("__eq__")
        return isinstance(other, SticksState) and self.moves == other.moves

    def __hash__(self) -> int:
        self.game.call("__hash__")
        return hash(self.moves)


def of_planes(planes: npt.NDArray[Any]) -> Arrays:
    """A network, which must never see a terminal state."""
    left = planes.reshape(len(planes))
    assert left.all()
    return np.stack([np.zeros_like(left), np.ones_like(left)], 1), left / 8


def of_states(states: list[SticksState]) -> Arrays:
    left = np.array([state.left for state in states])
    assert left.all()
    return np.tile([0.4, 0.6], (len(states), 1)), left / 8


EVALUATORS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: "uniform",
    "rollout": lambda: pyengine.RolloutEvaluator(2),
    "network": lambda: of_planes,
    "states": lambda: pyengine.StateEvaluator(of_states),
    "mixed": lambda: pyengine.MixedEvaluator(of_planes, pyengine.RolloutEvaluator(2)),
}
REPEATABLE = ("uniform", "network", "states")  # the same after any other search


def check_ends(node: SearchTree, moves: tuple[int, ...] = ()) -> None:
    """A terminal node has the game's value and no children."""
    over = sum(moves) + len(moves) == 4
    assert (node.to_move is None and node.visits > 0) >= over, moves
    if over:
        assert (node.q, node.children) == (1.0, []), moves
    for child in node.children:
        check_ends(child, (*moves, child.action or 0))


def figures(result: SearchResult) -> list[Any]:
    return [result.visits.tolist(), result.q.tolist(), result.value, result.nodes]


@pytest.mark.parametrize(
    ("kind", "deterministic"),
    [("uniform", False), ("rollout", True), ("network", True), ("states", False), ("mixed", False)],
)
def test_a_search_after_an_exception_equals_that_of_a_new_engine(
    kind: str, deterministic: bool
) -> None:
    settings: dict[str, Any] = {
        "solver": False,
        "threads": 1,
        "in_flight": 1,
        "cache_entries": 8,
        "deterministic": deterministic,
    }
    failures = 0

    def made(game: Sticks) -> Engine:
        return Engine(game, EVALUATORS[kind](), **settings)

    probe = Sticks()
    state = probe.new_initial_state()
    engine = made(probe)
    probe.calls.clear()
    engine.search(state, simulations=12)
    methods = dict(probe.calls)
    for method, call in [(m, i) for m, count in methods.items() for i in range(1, count + 1)]:
        game = Sticks()
        state = game.new_initial_state()
        engine = made(game)
        error = KeyboardInterrupt() if call % 2 else FaultError()
        game.fail(method, call, error)
        with pytest.raises(type(error)):
            engine.search(state, simulations=12)
        failures += 1
        done = engine.stats()["simulations"]
        result = engine.search(state, simulations=20)
        check_ends(result.tree(max_depth=4))
        assert result.visits.sum() == result.reused + 20, (method, call)
        if kind in REPEATABLE:
            other = made(Sticks())
            start = other.game.new_initial_state()
            if done:
                other.search(start, simulations=done)
            assert figures(result) == figures(other.search(start, simulations=20)), (method, call)
        solved = engine.search(state, simulations=100, solver=True)
        assert solved.proven == 1, (method, call)
    assert failures > 40


@pytest.mark.parametrize("method", ["apply_action", "is_terminal", "clone", "__eq__"])
def test_any_call_during_a_whole_game_may_raise(method: str) -> None:
    """Searches and moves of a whole game: one call fails, and the game continues."""
    failures = 0
    for call in range(1, 30):
        game = Sticks()
        engine = Engine(game, "uniform", threads=1, simulations=40)
        game.fail(method, call, FaultError())
        moves: list[int] = []
        while (left := 4 - sum(moves) - len(moves)) > 0:
            try:
                result = engine.search(SticksState(game, tuple(moves)))
                engine.advance(result.action)
            except FaultError:
                failures += 1
                continue
            assert result.proven == (-1 if left == 3 else 1), (call, moves)
            moves.append(result.action)
    assert failures >= 2
