"""Clocks: budgets that never lose on time, and the rules of each kind of extra time."""

from __future__ import annotations

import random
from typing import Any

import pytest

import pyengine
from pyengine import Clock, ConfigError

CLOCKS = [
    Clock(60),
    Clock(2, 0.1),
    Clock(0, 5),
    Clock(30, periods=3, period_seconds=10),
    Clock(0, periods=1, period_seconds=1),
    Clock(60, period_seconds=100, period_moves=10),
    Clock(0, period_seconds=5, period_moves=5),
]
GAMES = ["tic_tac_toe", "connect_four", "othello", "go(board_size=5)", "gomoku(board_size=9)"]


def position(game: str, plies: int) -> pyengine.State:
    state = pyengine.load_game(game).new_initial_state()
    rng = random.Random(plies)
    for _ in range(plies):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("clock", CLOCKS, ids=repr)
@pytest.mark.parametrize("game", GAMES)
def test_a_player_who_keeps_to_the_budgets_never_loses_on_time(clock: Clock, game: str) -> None:
    """Each move takes up to 50 ms more than its budget."""
    rng = random.Random(game)
    clock.reset()
    state = pyengine.load_game(game).new_initial_state()
    while not state.is_terminal():
        if state.current_player() == 0:
            seconds = clock.budget(state)
            assert 0 < seconds < clock.left
            assert clock.spend(seconds + rng.uniform(0, 0.05))
        state.apply_action(rng.choice(state.legal_actions()))


def test_most_of_the_main_time_is_used() -> None:
    clock = Clock(100)
    state = position("othello", 0)
    while not state.is_terminal():
        if state.current_player() == 0:
            clock.spend(clock.budget(state))
        state.apply_action(state.legal_actions()[0])
    assert 1 < clock.left < 10


def test_the_middle_of_a_game_gets_more_time_than_its_opening() -> None:
    clock = Clock(300)
    assert clock.budget(position("othello", 20)) > 1.5 * clock.budget(position("othello", 0))


def test_earlier_overruns_shorten_later_budgets() -> None:
    clock = Clock(0, periods=1, period_seconds=10)
    state = position("othello", 0)
    calm = clock.budget(state)
    clock.spend(calm + 0.25)  # 200 ms of lag were expected
    assert clock.budget(state) < calm


@pytest.mark.parametrize(
    ("clock", "spent", "left", "text"),
    [
        (Clock(60), [10, 20], 30, "0:30"),
        (Clock(60, 5), [10, 20], 40, "0:40"),
        (Clock(0, 5), [3], 7, "0:07"),
        (Clock(60, periods=2, period_seconds=10), [59, 5], 20, "0:10 x2"),
        (Clock(60, periods=2, period_seconds=10), [60, 10, 10], 20, "0:10 x2"),
        (Clock(60, periods=3, period_seconds=10), [71, 5, 11], 10, "0:10 x1"),
        (Clock(60, period_seconds=100, period_moves=3), [70, 30], 60, "1:00/1"),
        (Clock(60, period_seconds=100, period_moves=3), [70, 30, 60], 100, "1:40/3"),
        (Clock(60, periods=2, period_seconds=10), [80.5], 0, "0:00"),
        (Clock(0, period_seconds=10, period_moves=2), [4, 7], 0, "0:00"),
        (Clock(60), [61, 1], 0, "0:00"),
    ],
)
def test_each_kind_of_clock_counts_by_its_rules(
    clock: Clock, spent: list[float], left: float, text: str
) -> None:
    running = [clock.spend(seconds) for seconds in spent]
    assert (clock.left, str(clock)) == (left, text)
    assert clock.fallen == (left == 0) == (not running[-1])
    clock.reset()
    assert not clock.fallen


@pytest.mark.parametrize(
    ("clock", "given", "spent", "left"),
    [
        (Clock(60), (30,), 10, 20),
        (Clock(60), (-1,), 0, 0),
        (Clock(60, 5), (30,), 10, 25),
        (Clock(60, periods=5, period_seconds=10), (7, 3), 6, 30),
        (Clock(60, period_seconds=100, period_moves=5), (50, 2), 30, 20),
        (Clock(60, period_seconds=100, period_moves=5), (50, 1), 30, 100),
        (Clock(60), (50, 2), 30, 20),
    ],
)
def test_a_protocol_may_set_the_remaining_time(
    clock: Clock, given: tuple[Any, ...], spent: float, left: float
) -> None:
    clock.spend(1000)
    clock.set(*given)
    assert clock.spend(spent)
    assert clock.left == left
    assert clock.budget(position("othello", 30)) > 0


def test_byo_yomi_periods_are_used_in_full() -> None:
    state = position("othello", 60)
    assert Clock(0, periods=1, period_seconds=10).budget(state) > 9.5
    assert Clock(0, period_seconds=100, period_moves=10).budget(state) > 9.5
    assert Clock(3, periods=1, period_seconds=10).budget(state) > 12.5
    middle = position("othello", 20)
    assert 19 < Clock(0, periods=3, period_seconds=10).budget(middle) < 20


@pytest.mark.parametrize(
    "values",
    [
        {"main": -1},
        {"main": "5"},
        {"main": float("nan")},
        {"main": 0},
        {"main": 5, "increment": 1, "periods": 1, "period_seconds": 5},
        {"main": 5, "periods": 1, "period_moves": 1, "period_seconds": 5},
        {"main": 5, "periods": 3},
        {"main": 5, "period_seconds": 3},
        {"main": 5, "period_moves": 1.5, "period_seconds": 3},
    ],
)
def test_a_clock_without_sense_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Clock(**values)


def test_a_state_of_a_users_game_has_a_budget() -> None:
    assert 0 < Clock(60).budget(object()) < 10
