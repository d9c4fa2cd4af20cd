"""Users' games in the solver: hashes, long games, unusual outcomes, slow code."""

from __future__ import annotations

import dataclasses
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

import pyengine
from pyengine.exact import Solver
from toy_games import HIDDEN, ToyGame, ToyState, timed

TOTALS = 40


@dataclass
class Race:
    """Two players add 1 to 3 to a total that starts below zero; its final value decides."""

    actions = 3
    total: int = -TOTALS // 2
    moved: int = 0

    def clone(self) -> Any:
        return dataclasses.replace(self)

    def current_player(self) -> int:
        return self.moved % 2

    def legal_actions(self) -> list[int]:
        return [0, 1, 2]

    def apply_action(self, action: int) -> None:
        self.total += action + 1
        self.moved += 1

    def is_terminal(self) -> bool:
        return self.total >= TOTALS // 2

    def returns(self) -> list[float]:
        winner = random.Random(self.total * 1000 + self.moved).choice([-1.0, 0.0, 1.0])
        return [winner, -winner]


class Constant(Race):
    """The worst valid hash."""

    def __hash__(self) -> int:
        return 0


class Colliding(Race):
    """The hashes of -1 and -2, and of numbers equal modulo 2**61 - 1, collide."""

    def __hash__(self) -> int:
        return hash(self.total) ^ hash(self.moved * (2**61 - 1))


class Past(ToyState):
    """A race that can start anywhere: its history does not identify the position."""

    def __init__(self, moves: tuple[int, ...] = (), start: int = -6) -> None:
        super().__init__(moves)
        self.start = start

    def clone(self) -> Past:
        return Past(self.moves, self.start)

    def race(self) -> Race:
        return Race(self.start + sum(self.moves) + len(self.moves), len(self.moves))

    def is_terminal(self) -> bool:
        return self.race().total >= TOTALS // 2

    def returns(self) -> list[float]:
        return self.race().returns()


def value_of(state: Any) -> float:
    """Return the value for the player to move, by memoised recursion."""
    known: dict[tuple[int, int], float] = {}

    def value(race: Race) -> float:
        if race.is_terminal():
            return race.returns()[race.current_player()]
        key = (race.total, race.moved)
        if key not in known:
            known[key] = max(-value(Race(race.total + step, race.moved + 1)) for step in (1, 2, 3))
        return known[key]

    return value(Race(state.total, state.moved) if isinstance(state, Race) else state.race())


@pytest.mark.parametrize(("kind", "first"), [(Race, 8), (Constant, -4), (Colliding, -TOTALS // 2)])
def test_no_value_depends_on_the_users_hash(kind: type[Race], first: int) -> None:
    solver = Solver(ToyGame(kind), table_mb=1)
    for total in range(first, TOTALS // 2, 6):
        state = kind(total)
        result = solver.solve(state)
        assert (result.value, result.exact) == (value_of(state), True)


def test_an_equal_state_is_searched_once() -> None:
    result = pyengine.solve(Colliding(), game=ToyGame(Colliding))
    assert result.nodes < 50_000  # out of more than 3**13 move orders


def test_a_table_of_one_state_is_enough() -> None:
    state = Colliding(6)
    result = pyengine.solve(state, game=ToyGame(Colliding), table_mb=1e-4)
    assert (result.value, result.exact) == (value_of(state), True)


def test_a_solver_distinguishes_starts_with_equal_histories() -> None:
    solver = Solver(ToyGame(Past), table_mb=1)
    for start in range(8, TOTALS // 2):
        assert solver.solve(Past(start=start)).value == value_of(Past(start=start))


def test_a_tree_is_not_continued_at_another_start_with_an_equal_history() -> None:
    with pyengine.Engine(ToyGame(Past), pyengine.RolloutEvaluator()) as engine:
        engine.search(Past(start=15), simulations=20)
        assert engine.search(Past(start=15), simulations=40).reused == 20
        assert engine.search(Past(start=14), simulations=40).reused == 0


class Chain(ToyState):
    """One action in each position, for `plies` plies."""

    actions = 1
    plies = 3_000
    history = HIDDEN

    def is_terminal(self) -> bool:
        return len(self.moves) == self.plies

    def returns(self) -> list[float]:
        return [1.0, -1.0]


class Circle(Chain):
    """A move may also lead back to the start: random games end, but some games never do."""

    actions = 2
    plies = 3

    def apply_action(self, action: int) -> None:
        self.moves = (*self.moves, action) if action == 0 else ()

    def current_player(self) -> int:
        return 0

    def returns(self) -> list[float]:
        return [-1.0, 1.0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Circle) and self.moves == other.moves

    def __hash__(self) -> int:
        return hash(self.moves)


def in_small_thread(call: Any) -> Any:
    """Return the result of a call in a thread with a stack of 512 KiB."""
    before = threading.stack_size(2**19)
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    finally:
        threading.stack_size(before)


def test_a_game_of_3000_plies_is_solved_on_a_small_stack() -> None:
    game: Any = ToyGame(Chain)
    game.max_game_length = Chain.plies
    result = in_small_thread(lambda: pyengine.solve(game.new_initial_state(), game=game))
    assert (result.value, result.exact, len(result.pv)) == (1.0, True, Chain.plies)


def test_a_game_that_may_never_end_is_refused() -> None:
    game: Any = ToyGame(Circle)
    with pytest.raises(pyengine.ConfigError, match="not over after max_game_length, 10000 plies"):
        in_small_thread(lambda: pyengine.solve(game.new_initial_state(), game=game))


class Prize(ToyState):
    """A single move with a given return."""

    prizes: tuple[float, ...]

    def current_player(self) -> int:
        return 0

    def is_terminal(self) -> bool:
        return len(self.moves) == 1

    def returns(self) -> list[float]:
        prize = self.prizes[self.moves[0]]
        return [prize, -prize]


@pytest.mark.parametrize(
    ("prizes", "best", "most"),
    [
        ((1.0, 3.0, 2.0), 1, 1e9),
        ((1e9 - 1, 1e9 - 2, 1e9 - 3), 0, 1e9),
        ((-3e-9, -2e-9, -1e-9), 2, 1.0),
        ((0.1, 0.1, 0.1 + 2**-56), 2, 1.0),
        ((-5e-324, 0.0, -1.0), 1, 1.0),
        ((1.0, 1e300, 0.0), 1, 1.7e308),
    ],
)
def test_outcomes_are_compared_without_rounding(
    prizes: tuple[float, ...], best: int, most: float
) -> None:
    game: Any = ToyGame(type("Given", (Prize,), {"prizes": prizes}))
    game.max_utility = most
    result = pyengine.solve(game.new_initial_state(), game=game)
    assert (result.action, result.value, result.exact) == (best, prizes[best] / most, True)


def test_no_call_of_a_users_code_begins_after_the_time_is_up() -> None:
    kind, begun = timed(Race, 0.004)
    solver = Solver(ToyGame(kind), table_mb=1)
    state = kind()
    begun.clear()
    start = time.monotonic()
    result = solver.solve(state, seconds=0.1)
    assert not result.exact
    assert sum(call > start + 0.105 for call in begun) <= 1  # copying the state for the result
    assert len(begun) > 5


def test_a_stop_also_ends_the_random_game_before_the_search() -> None:
    kind, _ = timed(ToyState, 0.004)
    solver = Solver(ToyGame(kind), table_mb=1)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(solver.solve, kind())
        while not running.done():
            solver.stop()
            time.sleep(0.01)
    result = running.result()
    assert (result.action, result.pv, result.exact) == (None, [], False)
