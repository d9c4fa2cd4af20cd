"""``allow`` and ``avoid`` restrict a search to some of the root's moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, Engine, IllegalActionError, StateEvaluator
from toy_games import Pairs, ToyGame
from zero_network import zero_network


def state_values(states: list[Any]) -> tuple[Any, Any]:
    return np.tile(np.arange(1.0, 8.0), (len(states), 1)), np.zeros(len(states))


@pytest.mark.parametrize("algorithm", ["puct", "gumbel", "uct", "flat_ucb"])
@pytest.mark.parametrize(
    "evaluator",
    ["uniform", "rollout", "connect4", zero_network(), StateEvaluator(state_values)],
    ids=["uniform", "rollout", "network", "callable", "states"],
)
def test_every_evaluator_and_algorithm_searches_the_allowed_moves(
    evaluator: Any, algorithm: str
) -> None:
    engine = Engine("connect_four", evaluator, algorithm=algorithm, simulations=40)
    state = engine.game.new_initial_state()
    result = engine.search(state, allow=np.array([6, 2, 4]), avoid=[4])
    assert result.actions.tolist() == [2, 6]
    assert result.action in (2, 6)
    assert result.visits.sum() == 40
    assert {*np.flatnonzero(result.policy)} <= {2, 6}
    assert result.priors.sum() == pytest.approx(1, abs=1e-3)
    assert engine.search(state).actions.tolist() == [*range(7)]


def test_a_users_game_can_be_restricted() -> None:
    engine = Engine(ToyGame(Pairs), "rollout", simulations=20)
    state = engine.game.new_initial_state()
    every = state.legal_actions()
    assert engine.search(state, avoid=(0,)).actions.tolist() == every[1:]


def test_the_cached_evaluation_of_a_root_is_not_restricted() -> None:
    engine = Engine("connect_four", "connect4", simulations=1, symmetry="none")
    state = engine.game.new_initial_state()
    some = engine.search(state, allow=[0, 1])
    every = engine.search(state)
    assert engine.stats()["cache_hits"] > 0
    assert every.network_value == some.network_value
    fresh = pyengine.search(state, evaluator="connect4", simulations=1, symmetry="none")
    assert every.priors.tolist() == fresh.priors.tolist()


def test_analyze_and_the_short_form_take_the_restriction() -> None:
    engine = Engine("connect_four", "uniform", simulations=50)
    state = engine.game.new_initial_state()
    for result in engine.analyze(state, avoid=[3]):
        assert 3 not in result.actions
    result = pyengine.search(state, evaluator="uniform", simulations=10, allow=[3])
    assert (result.actions.tolist(), result.action) == ([3], 3)
    assert "avoid" not in str(result)


def test_a_proof_for_some_moves_is_not_reported_as_the_positions() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4])
    result = pyengine.search(state, evaluator="uniform", simulations=5000, allow=[6, 7])
    assert (result.proven, result.stop_reason, result.value) == (None, "proven", -1.0)
    assert result.tree().proven is None
    assert pyengine.search(state, evaluator="uniform", simulations=5000).proven == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"allow": [7]}, IllegalActionError),
        ({"avoid": [2**70]}, ConfigError),
        ({"avoid": [2**40]}, IllegalActionError),
        ({"allow": "12"}, ConfigError),
        ({"avoid": {1}}, ConfigError),
        ({"avoid": 1}, ConfigError),
        ({"allow": []}, ConfigError),
        ({"avoid": range(7)}, ConfigError),
    ],
)
def test_wrong_moves_are_refused_by_name(arguments: Any, error: type[Exception]) -> None:
    engine = Engine("connect_four", "uniform", simulations=10)
    state = engine.game.new_initial_state()
    for call in (engine.search, lambda s, **kw: list(engine.analyze(s, **kw))):
        with pytest.raises(error, match=r"allow|avoid"):
            call(state, **arguments)


def test_stop_when_decided_ends_early_with_its_own_reason() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 3, 3, 3, 2])
    settings = {"evaluator": "connect4", "simulations": 400, "threads": 1, "solver": False}
    whole = pyengine.search(state, **settings)
    result = pyengine.search(state, stop_when_decided=True, **settings)
    assert (result.stop_reason, result.action) == ("decided", whole.action)
    assert result.simulations < 400
    assert "ended early, the move was decided" in str(result)
    only = pyengine.search(state, stop_when_decided=True, allow=[5], **settings)
    assert (only.stop_reason, only.action, only.simulations) == ("decided", 5, 1)
