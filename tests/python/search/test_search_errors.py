"""Bad input to a search gives a clear error and leaves the tree unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import pytest

import pyengine
from pyengine import ConfigError, Engine, EngineError, EvaluationError
from zero_network import Arrays, zero_network


@pytest.fixture
def engine() -> Engine:
    """Return an engine that has searched 50 simulations from the start."""
    engine = Engine("tic_tac_toe", "uniform", simulations=50, solver=False)
    engine.search(engine.game.new_initial_state())
    return engine


def check_unharmed(engine: Engine) -> None:
    """Check that the tree of the 50 simulations is still there."""
    assert engine.search(engine.game.new_initial_state()).visits.sum() == 100


def test_a_state_of_another_game_is_refused_with_both_names(engine: Engine) -> None:
    for other in ("connect_four", "mnk(rows=4)"):
        state = pyengine.load_game(other).new_initial_state()
        with pytest.raises(ConfigError, match=r"tic_tac_toe.*got one of " + re.escape(other[:5])):
            engine.search(state)
    check_unharmed(engine)


def test_advance_refuses_illegal_actions_and_unsearched_engines(engine: Engine) -> None:
    with pytest.raises(ConfigError, match="search a state first"):
        Engine("tic_tac_toe", "uniform").advance(0)
    for action in (-1, 9, 2**31 - 1):
        with pytest.raises(pyengine.IllegalActionError):
            engine.advance(action)
    check_unharmed(engine)
    engine.advance(4)
    with pytest.raises(pyengine.IllegalActionError):
        engine.advance(4)


def failing(error: BaseException, after: int) -> Callable[[npt.NDArray[Any]], Arrays]:
    rows: list[int] = []
    zeros = zero_network(rows=rows)

    def evaluate(planes: npt.NDArray[Any]) -> Arrays:
        answers = zeros(planes)
        if len(rows) == after:
            raise error
        return answers

    return evaluate


@pytest.mark.parametrize(("after", "threads"), [(1, 1), (1, 4), (2, 4), (9, 4)])
def test_a_callable_that_raises_stops_only_the_search(after: int, threads: int) -> None:
    error = RuntimeError("the network is on strike")
    settings = {"cache_entries": 0, "solver": False, "threads": threads, "simulations": 200}
    engine = Engine("connect_four", failing(error, after), **settings)
    state = engine.game.new_initial_state()
    with pytest.raises(EvaluationError, match="on strike") as caught:
        engine.search(state)
    assert caught.value.__cause__ is error
    result = engine.search(state)
    assert result.simulations == 200
    assert result.visits.sum() >= 200
    again = engine.search(state)
    assert again.visits.sum() == result.visits.sum() + 200


def test_calls_during_a_search_are_refused() -> None:
    engine = Engine("connect_four", "uniform", solver=False)
    state = engine.game.new_initial_state()
    refused = 0

    def again(result: pyengine.SearchResult) -> bool:
        nonlocal refused
        for call in (
            lambda: engine.search(state),
            lambda: engine.search_many([state]),
            lambda: engine.advance(0),
            engine.clear,
        ):
            with pytest.raises(EngineError, match=r"stop\(\)"):
                call()
            refused += 1
        return False

    engine.search(state, seconds=20, on_progress=again)
    assert refused == 4
    assert engine.search(state, simulations=10).simulations == 10
