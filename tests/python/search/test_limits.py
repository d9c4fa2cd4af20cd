"""Limits of counters and memory: actions of a game, bytes of trees and cache, zero visits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, Engine
from toy_games import ToyGame, ToyState


def one_ply(actions: int) -> ToyGame:
    """Return a game of one move: the last action wins, all others lose."""

    class OnePly(ToyState):
        def is_terminal(self) -> bool:
            return len(self.moves) == 1

        def current_player(self) -> int:
            return -4 if self.moves else 0

        def returns(self) -> list[float]:
            return [1.0, -1.0] if self.moves[0] == actions - 1 else [-1.0, 1.0]

    OnePly.actions = actions
    return ToyGame(OnePly)


def prefer_the_last(states: list[Any]) -> tuple[Any, Any]:
    policy = np.zeros((len(states), 65535), np.float32)
    policy[:, 65534] = 1.0
    return policy, np.zeros(len(states), np.float32)


def test_a_game_with_65535_actions_is_searched() -> None:
    game = one_ply(65535)
    for evaluator in ("uniform", "rollout"):
        result = Engine(game, evaluator).search(game.new_initial_state(), simulations=50)
        assert (len(result.actions), result.visits.sum()) == (65535, 50)
    engine = Engine(game, pyengine.StateEvaluator(prefer_the_last))
    result = engine.search(game.new_initial_state(), simulations=50, temperature=1.0)
    assert (result.action, result.proven) == (65534, 1)


@pytest.mark.parametrize("actions", [65536, 2**31 - 1, 2**31, 10**30, -(2**31)])
def test_a_game_of_more_actions_is_refused(actions: int) -> None:
    with pytest.raises(ConfigError, match=f"num_distinct_actions.*, got {actions}"):
        Engine(one_ply(actions), "uniform")


def test_more_legal_actions_than_the_game_has_are_refused() -> None:
    game = one_ply(3)
    for legal, expected in ((range(70_000), "must lie in 0..2"), ([0, 1, 2] * 30_000, "twice")):
        kind = type("TooMany", (game.kind,), {"legal_actions": lambda _, legal=legal: legal})
        with pytest.raises(ConfigError, match=expected):
            Engine(game, "uniform").search(kind())


def test_without_visits_policy_at_uses_the_priors() -> None:
    game = pyengine.load_game("connect_four")
    evaluator = pyengine.StateEvaluator(
        lambda states: (np.tile(np.arange(1.0, 8.0), (len(states), 1)), np.zeros(len(states)))
    )
    for threads in (1, 2):
        engine = Engine(game, evaluator, threads=threads, temperature=1.0)
        result = engine.search(game.new_initial_state(), seconds=1e-9)
        if result.visits.any():  # a late thread may have created one
            continue
        priors = result.priors.astype(np.float64)
        assert result.policy_at(1.0) == pytest.approx(priors / priors.sum(), rel=1e-5)
        squares = priors**2
        assert result.policy_at(0.5) == pytest.approx(squares / squares.sum(), rel=1e-5)
        assert result.policy_at(0.0).argmax() == 6
