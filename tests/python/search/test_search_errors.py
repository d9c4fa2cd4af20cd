"""Bad input to a search gives a clear error and leaves the tree unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyengine
from pyengine import ConfigError, Engine, EngineError, EvaluationError, ModelError
from third_party_networks import NETWORKS
from tiny_models import TinyModel

Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]


@pytest.fixture
def engine() -> Engine:
    """Return an engine that has searched 50 simulations from the start."""
    engine = Engine("tic_tac_toe", "uniform", simulations=50, solver=False)
    engine.search(engine.game.new_initial_state())
    return engine


def check_unharmed(engine: Engine) -> None:
    """Check that the tree of the 50 simulations is still there."""
    assert engine.search(engine.game.new_initial_state()).visits.sum() == 100


def test_a_terminal_state_is_refused(engine: Engine) -> None:
    over = engine.game.new_initial_state([0, 3, 1, 4, 2])
    with pytest.raises(ConfigError, match="state: expected a non-terminal state"):
        engine.search(over)
    with pytest.raises(ConfigError, match="terminal"):
        engine.search_many([engine.game.new_initial_state(), over])
    check_unharmed(engine)


def test_a_state_of_another_game_is_refused_with_both_names(engine: Engine) -> None:
    for other in ("connect_four", "mnk(rows=4)"):
        state = pyengine.load_game(other).new_initial_state()
        with pytest.raises(ConfigError, match=r"tic_tac_toe.*got one of " + re.escape(other[:5])):
            engine.search(state)
    check_unharmed(engine)


def test_a_user_s_state_needs_an_engine_for_its_game(engine: Engine) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open-spiel is absent (extra `test`)")
    with pytest.raises(ConfigError, match="expected a state of this game"):
        engine.search(pyspiel.load_game("tic_tac_toe").new_initial_state())
    check_unharmed(engine)


def test_advance_refuses_what_is_not_legal_and_what_was_never_searched(engine: Engine) -> None:
    fresh = Engine("tic_tac_toe", "uniform")
    with pytest.raises(ConfigError, match="search a state first"):
        fresh.advance(0)
    for action in (-1, 9, 2**31 - 1):
        with pytest.raises(pyengine.IllegalActionError):
            engine.advance(action)
    check_unharmed(engine)
    engine.advance(4)
    with pytest.raises(pyengine.IllegalActionError):
        engine.advance(4)


def failing(error: BaseException, after: int) -> Callable[[npt.NDArray[Any]], Arrays]:
    calls = 0

    def evaluate(planes: npt.NDArray[Any]) -> Arrays:
        nonlocal calls
        calls += 1
        if calls == after:
            raise error
        return np.zeros((len(planes), 7)), np.zeros(len(planes))

    return evaluate


@pytest.mark.parametrize(("after", "threads"), [(1, 1), (1, 4), (2, 4), (9, 4)])
def test_a_callable_that_raises_stops_the_search_and_no_more(after: int, threads: int) -> None:
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


def test_a_callable_that_raises_in_search_many() -> None:
    engine = Engine("connect_four", failing(ValueError("no"), 5), cache_entries=0)
    states = [engine.game.new_initial_state([a]) for a in range(7)]
    with pytest.raises(EvaluationError, match="no"):
        engine.search_many(states, simulations=100)
    assert len(engine.search_many(states, simulations=20)) == 7


WRONG_ANSWERS: dict[str, Callable[[int], Any]] = {
    "None": lambda n: None,
    "a policy too narrow": lambda n: (np.zeros((n, 6)), np.zeros(n)),
    "a row too many": lambda n: (np.zeros((n + 1, 7)), np.zeros(n + 1)),
    "NaN in the policy": lambda n: (np.full((n, 7), np.nan), np.zeros(n)),
    "an infinite value": lambda n: (np.zeros((n, 7)), np.full(n, np.inf)),
}


@pytest.mark.parametrize("answer", WRONG_ANSWERS)
@pytest.mark.parametrize("kind", ["planes", "states"])
def test_wrong_answers_of_a_callable_are_evaluation_errors(kind: str, answer: str) -> None:
    right = True

    def evaluate(rows: Any) -> Any:
        n = len(rows)
        return (np.ones((n, 7)), np.zeros(n)) if right else WRONG_ANSWERS[answer](n)

    evaluator = pyengine.StateEvaluator(evaluate) if kind == "states" else evaluate
    engine = Engine("connect_four", evaluator, simulations=50, solver=False, cache_entries=0)
    state = engine.game.new_initial_state()
    engine.search(state)
    right = False
    with pytest.raises(EvaluationError):
        engine.search(state)
    right = True
    assert engine.search(state).visits.sum() >= 100


def test_a_network_that_does_not_fit_is_refused_when_the_engine_is_made(tmp_path: Path) -> None:
    narrow = TinyModel(actions=8).write(tmp_path / "narrow.onnx")
    small = TinyModel().write(tmp_path / "small.onnx")
    spec = pyengine.ModelSpec()
    with pytest.raises(ModelError, match=r"9.*8|8.*9"):
        Engine("tic_tac_toe", pyengine.OnnxEvaluator(narrow, spec, providers=["cpu"]))
    with pytest.raises(ModelError, match=r"[67].*3|3.*[67]"):
        Engine("connect_four", pyengine.OnnxEvaluator(small, spec, providers=["cpu"]))
    with pytest.raises(ModelError, match="ModelSpec"):
        Engine("tic_tac_toe", small)  # does not declare what it reads


class Broken:
    """Tic-tac-toe that breaks a promise at the third ply."""

    def __init__(self, promise: str) -> None:
        self.promise = promise

    def num_distinct_actions(self) -> int:
        return 3

    def new_initial_state(self) -> BrokenState:
        return BrokenState(self.promise, 0)


class BrokenState:
    def __init__(self, promise: str, plies: int) -> None:
        self.promise = promise
        self.plies = plies

    def breaks(self, promise: str) -> bool:
        return self.plies == 3 and self.promise == promise

    def clone(self) -> BrokenState:
        if self.breaks("clone"):
            raise OSError("clone fails")
        return BrokenState(self.promise, self.plies)

    def current_player(self) -> int:
        return -1 if self.breaks("chance") else self.plies % 2

    def legal_actions(self) -> list[int]:
        if self.breaks("raise"):
            raise OSError("legal_actions fails")
        if self.breaks("empty"):
            return []
        return [0, 7] if self.breaks("range") else [0, 1, 2]

    def apply_action(self, action: int) -> None:
        self.plies += 1
        if self.breaks("apply"):
            raise OSError("apply_action fails")

    def is_terminal(self) -> bool:
        return self.plies >= 6 or self.breaks("returns")

    def returns(self) -> list[float]:
        return [1.0, 1.0] if self.promise == "returns" else [0.0, 0.0]


@pytest.mark.parametrize(
    ("promise", "evaluator", "error", "message"),
    [
        ("clone", "rollout", OSError, "clone fails"),  # a uniform search copies only the root
        ("raise", "uniform", OSError, "legal_actions fails"),
        ("raise", "rollout", OSError, "legal_actions fails"),
        ("apply", "uniform", OSError, "apply_action fails"),
        ("apply", "rollout", OSError, "apply_action fails"),
        ("chance", "uniform", ConfigError, "chance"),
        ("empty", "rollout", ConfigError, "empty"),
        ("range", "uniform", ConfigError, "7"),
        ("returns", "rollout", ConfigError, "zero-sum"),
    ],
)
def test_a_game_that_breaks_a_promise_stops_the_search_by_name(
    promise: str, evaluator: str, error: type[Exception], message: str
) -> None:
    game = Broken(promise)
    engine = Engine(game, evaluator, simulations=500, threads=2)
    for _ in range(2):
        with pytest.raises(error, match=message):
            engine.search(game.new_initial_state())
    game.promise = "none"
    assert engine.search(game.new_initial_state()).simulations > 0


def test_a_second_search_is_refused_and_named() -> None:
    engine = Engine("connect_four", "uniform", solver=False)
    state = engine.game.new_initial_state()
    refused: list[EngineError] = []

    def again(result: pyengine.SearchResult) -> bool:
        for call in (
            lambda: engine.search(state),
            lambda: engine.search_many([state]),
            lambda: engine.advance(0),
            engine.clear,
        ):
            with pytest.raises(EngineError) as error:
                call()
            refused.append(error.value)
        assert engine.stats()["nodes"] > 1
        return False

    engine.search(state, seconds=20, on_progress=again)
    assert len(refused) == 4
    assert "stop()" in str(refused[0])
    assert engine.search(state, simulations=10).simulations == 10


def test_networks_fail_cleanly_inside_a_search(shared: Callable[..., Path]) -> None:
    network = NETWORKS["connect4_sunshine"]
    evaluator = pyengine.OnnxEvaluator(
        shared("nets", "connect4_sunshine.onnx"), network.spec, providers=["cpu"]
    )
    mixed = pyengine.MixedEvaluator(evaluator, failing(RuntimeError("half of it"), 3))
    engine = Engine("connect_four", mixed, simulations=100, solver=False)
    state = engine.game.new_initial_state()
    with pytest.raises(EvaluationError, match="half of it"):
        engine.search(state)
    assert engine.search(state).simulations == 100
