"""UCT, flat UCB and AlphaGo's exploration through the public API."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyengine
from naive_puct import SERIAL, hashed
from pyengine import Engine


def position(text: str, *moves: str) -> pyengine.State:
    state = pyengine.load_game(text).new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


def test_flat_ucb_keeps_only_the_roots_children_and_uct_a_node_per_simulation() -> None:
    state = position("gomoku(board_size=9)")
    flat = pyengine.search(
        state, evaluator="rollout", algorithm="flat_ucb", simulations=2000, **SERIAL
    )
    assert flat.nodes == 1 + 81
    assert flat.evaluations == 2001  # a new playout for each visit, and one for the root
    tree = pyengine.search(state, evaluator="rollout", algorithm="uct", simulations=2000, **SERIAL)
    assert tree.nodes == 2001


def ucb1_visits(outcomes: dict[int, float], order: list[int], n: int, c: float) -> dict[int, int]:
    """Play a bandit whose arms always give the same result, by UCB1."""
    visits = dict.fromkeys(order, 0)
    for done in range(n):
        fresh = [a for a in order if visits[a] == 0]
        if fresh:
            visits[fresh[0]] += 1
            continue

        def score(a: int, done: int = done) -> float:
            return outcomes[a] + c * math.sqrt(2 * math.log(done) / visits[a])

        visits[max(order, key=score)] += 1
    return visits


@pytest.mark.parametrize("c", [0.1, 1 / math.sqrt(2), 2.0])
def test_flat_ucb_with_certain_values_is_the_bandit(c: float) -> None:
    game = pyengine.load_game("mnk(rows=2,columns=3,k=3)")
    state = game.new_initial_state()
    values = {0: 0.9, 1: -0.4, 2: 0.1, 3: 0.33, 4: -0.75, 5: 0.6}  # for the second player

    def evaluate(states: list[pyengine.State]) -> tuple[np.ndarray, np.ndarray]:
        value = [values[s.history()[0]] if s.history() else 0.0 for s in states]
        return np.ones((len(states), 6), np.float32), np.array(value, np.float32)

    result = pyengine.search(
        state,
        evaluator=pyengine.StateEvaluator(evaluate),
        algorithm="flat_ucb",
        uct_c=c,
        simulations=500,
        **SERIAL,
    )
    outcomes = {a: 0.5 - 0.5 * float(np.float32(v)) for a, v in values.items()}
    expected = ucb1_visits(outcomes, list(values), 500, c)
    assert {int(a): int(v) for a, v in zip(result.actions, result.visits, strict=True)} == expected


def test_moves_not_yet_tried_come_in_random_order() -> None:
    game = pyengine.load_game("gomoku(board_size=9)")
    first = []
    for seed in range(40):
        result = pyengine.search(
            game.new_initial_state(),
            evaluator="rollout",
            algorithm="uct",
            simulations=1,
            seed=seed,
            **SERIAL,
        )
        first.append(int(result.actions[np.argmax(result.visits)]))
    assert len(set(first)) > 20


def test_expand_probability_keeps_moves_untried() -> None:
    state = position("gomoku(board_size=9)")

    def tried(probability: float) -> int:
        result = pyengine.search(
            state,
            evaluator="rollout",
            algorithm="uct",
            expand_probability=probability,
            simulations=60,
            **SERIAL,
        )
        assert result.visits.sum() == 60
        return int(np.count_nonzero(result.visits))

    assert tried(1.0) == 60
    assert 18 < tried(0.5) < 42  # 60 fair coin tosses, +-3 standard deviations
    assert 1 <= tried(0.05) < 15


def test_flat_ucb_tries_each_move_first_whatever_the_probability_of_uct() -> None:
    result = pyengine.search(
        position("gomoku(board_size=9)"),
        evaluator="rollout",
        algorithm="flat_ucb",
        expand_probability=0.1,
        simulations=81,
        **SERIAL,
    )
    assert result.visits.tolist() == [1] * 81


def log_score(visits: np.ndarray, q: np.ndarray, priors: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * q + 0.5 * np.log(visits.sum() / (1 + visits))


def alphago_score(visits: np.ndarray, q: np.ndarray, priors: np.ndarray) -> np.ndarray:
    return np.nan_to_num(q, nan=0.25) + 2.0 * priors / (1 + visits)


@pytest.mark.parametrize(
    ("settings", "score"),
    [
        ({"algorithm": "uct", "exploration": "log", "uct_c": 0.5}, log_score),
        ({"exploration": "alphago", "c_puct": 2.0, "fpu": "value"}, alphago_score),
    ],
)
def test_an_exploration_is_its_formula(settings: dict[str, Any], score: Any) -> None:
    state = position("connect_four", "4", "4")
    engine = Engine("connect_four", hashed(7), **settings, **SERIAL)
    for _ in range(100):
        before = engine.search(state, simulations=7)
        after = engine.search(state, simulations=1)
        chosen = int(np.argmax(after.visits - before.visits))
        scores = score(before.visits, before.q, before.priors)
        assert scores[chosen] == pytest.approx(scores.max(), abs=1e-6)


def test_choose_mean_plays_the_best_mean() -> None:
    state = position("connect_four", "4", "4", "3")
    visits = pyengine.search(state, evaluator="rollout", algorithm="uct", simulations=300, **SERIAL)
    mean = pyengine.search(
        state, evaluator="rollout", algorithm="uct", simulations=300, choose="mean", **SERIAL
    )
    assert np.array_equal(visits.visits, mean.visits)
    assert visits.action == visits.actions[np.argmax(visits.visits)]
    assert mean.action == mean.actions[np.nanargmax(mean.q)]


@pytest.mark.parametrize("algorithm", ["uct", "flat_ucb"])
def test_a_deterministic_search_is_the_same_for_any_number_of_threads(algorithm: str) -> None:
    settings = {"algorithm": algorithm, "deterministic": True, "simulations": 300}
    results = [
        pyengine.search(position("othello"), evaluator="rollout", threads=threads, **settings)
        for threads in (1, 2, 4)
    ]
    assert all((result.visits == results[0].visits).all() for result in results)


def test_a_tree_continues_for_uct_but_not_for_flat_ucb_or_another_rule() -> None:
    state = position("connect_four")
    engine = Engine("connect_four", "rollout", threads=1, algorithm="uct", solver=False)
    assert engine.search(state, simulations=100).visits.sum() == 100
    assert engine.search(state, simulations=100).visits.sum() == 200
    assert engine.search(state, simulations=100, algorithm="puct").visits.sum() == 100
    assert engine.search(state, simulations=100, algorithm="uct").visits.sum() == 100
    for _ in range(2):
        assert engine.search(state, simulations=100, algorithm="flat_ucb").visits.sum() == 100
