"""Slow operations within a search end with it: playouts of a leaf, a user's code, many roots."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from interrupted import AlarmError, alarm
from pyengine import Engine, MixedEvaluator, RolloutEvaluator, SearchResult, load_game
from pyengine.eval import RolloutPolicy
from toy_games import ToyGame, ToyState, timed
from zero_network import Arrays, zero_network

# For a deadline 50 ms away, with slack for a busy machine. Uninterrupted calls take far longer.
SOON = 3.0
MANY = 1_000_000


class Long(ToyState):
    """A game of 40,000 plies that takes a millisecond per move."""

    def apply_action(self, action: int) -> None:
        time.sleep(0.001)
        super().apply_action(action)

    def is_terminal(self) -> bool:
        return len(self.moves) == 40_000


def go_by_a_policy() -> tuple[Any, Any]:
    features = dict.fromkeys(RolloutPolicy.FEATURES, 0.0)
    pattern, response = np.zeros((2, 65536))
    policy = RolloutPolicy(pattern, response, features)
    return load_game("go(board_size=9)"), RolloutEvaluator(MANY, policy=policy)


def clobber() -> Any:
    pyspiel = pytest.importorskip("pyspiel", reason="open-spiel is absent (extra `test`)")
    return pyspiel.load_game("clobber")


LONG: dict[str, Callable[[], tuple[Any, Any]]] = {
    "rollouts": lambda: (load_game("othello"), RolloutEvaluator(MANY)),
    "rollouts by a policy": go_by_a_policy,
    "mixed": lambda: (load_game("othello"), MixedEvaluator("uniform", RolloutEvaluator(MANY))),
    "mixed with a network": lambda: (
        load_game("connect_four"),
        MixedEvaluator(zero_network(), RolloutEvaluator(MANY)),
    ),
    "rollouts of a user's game": lambda: (ToyGame(Long), RolloutEvaluator(MANY)),
    "one rollout of a user's game": lambda: (ToyGame(Long), "rollout"),
    "rollouts of pyspiel": lambda: (clobber(), RolloutEvaluator(MANY)),
}


def check(result: SearchResult, reason: str) -> None:
    assert result.stop_reason == reason
    assert result.visits.sum() == result.simulations
    assert result.action in result.actions
    assert abs(result.value) <= 1


@pytest.mark.parametrize(("threads", "deterministic"), [(1, True), (2, False)])
@pytest.mark.parametrize("kind", LONG)
def test_a_slow_leaf_ends_with_the_search(kind: str, threads: int, deterministic: bool) -> None:
    played, evaluator = LONG[kind]()
    engine = Engine(played, evaluator, threads=threads, deterministic=deterministic)
    state = played.new_initial_state()
    begun = time.monotonic()
    check(engine.search(state, seconds=0.05), "seconds")
    assert time.monotonic() - begun < SOON
    begun = time.monotonic()
    with alarm(0.05), pytest.raises(AlarmError):
        engine.search(state, seconds=1000)
    assert time.monotonic() - begun < SOON
    begun = time.monotonic()
    timer = threading.Timer(0.05, engine.stop)
    timer.start()
    for result in engine.search_many([state] * 3, seconds=1000):
        check(result, "stopped")
    assert time.monotonic() - begun < SOON
    timer.join()


def test_playouts_outside_a_search_end_with_a_signal() -> None:
    for kind in ("rollouts", "rollouts of a user's game"):
        played, evaluator = LONG[kind]()
        begun = time.monotonic()
        with alarm(0.05), pytest.raises(AlarmError):
            evaluator.evaluate([played.new_initial_state()], game=played)
        assert time.monotonic() - begun < SOON


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_root_with_cut_playouts_is_evaluated_again(deterministic: bool) -> None:
    engine = Engine(
        "connect_four", RolloutEvaluator(20_000), threads=1, deterministic=deterministic
    )
    state = engine.game.new_initial_state([3, 0, 3, 0])
    assert engine.search(state, seconds=1e-9).simulations == 0
    result = engine.search(state, simulations=3)
    assert (result.reused, result.evaluations) == (0, 4)
    whole = Engine("connect_four", RolloutEvaluator(20_000), threads=1)
    exact = whole.search(state, simulations=1)
    assert result.network_value == pytest.approx(exact.network_value, abs=0.03)


def test_cut_playouts_leave_no_trace_in_a_tree() -> None:
    """A search that is stopped and resumed has only visits of complete playouts."""
    engine = Engine("connect_four", RolloutEvaluator(4_000), threads=1, solver=False)
    state = engine.game.new_initial_state()
    for _ in range(4):
        result = engine.search(state, seconds=0.03)
    assert result.visits.sum() == engine.stats()["simulations"]
    nodes = result.tree(max_depth=9).children
    assert nodes
    # A visit is a mean of 4,000 playouts, so all values of young nodes are close.
    for node in nodes:
        assert abs(node.q) < 0.4


def test_many_roots_end_with_the_batches_in_flight() -> None:
    calls: list[int] = []

    def slow(planes: npt.NDArray[Any]) -> Arrays:
        calls.append(len(planes))
        time.sleep(0.03)
        return np.arange(7.0) * np.ones((len(planes), 1)), np.full(len(planes), 0.5)

    engine = Engine("connect_four", slow, batch_size=8, cache_entries=0)
    states = [engine.game.new_initial_state([i % 7, i // 7 % 7]) for i in range(200)]
    results = engine.search_many(states, seconds=0.05)
    assert len(calls) < 10
    evaluated = [result for result in results if result.evaluations]
    assert 8 <= len(evaluated) < 80
    for result in results:
        check(result, "seconds")
        if not result.evaluations:  # nothing is known
            assert (result.value, result.network_value) == (0.0, 0.0)
            assert np.ptp(result.priors) == 0.0
    assert all(result.network_value == 0.5 for result in evaluated)


class SixPlies(ToyState):
    def is_terminal(self) -> bool:
        return len(self.moves) == 6


@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_no_call_of_a_users_game_begins_after_the_time_is_up(evaluator: str) -> None:
    kind, begun = timed(SixPlies, 0.004)
    engine = Engine(ToyGame(kind), evaluator)
    engine.search(kind(), simulations=1)
    begun.clear()
    result = engine.search(kind(), seconds=0.05)
    assert result.stop_reason == "seconds"
    start = begun[3]  # in the search: the state was copied and read before
    assert sum(call > start + 0.05 for call in begun) <= 1  # copying the state for the result
