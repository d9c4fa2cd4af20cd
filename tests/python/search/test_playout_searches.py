"""UCT, flat UCB and AlphaGo's exploration through the public API."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyengine
from naive_puct import SERIAL, hashed
from pyengine import Engine

GOMOKU = pyengine.load_game("gomoku(board_size=9)").new_initial_state()
CONNECT_FOUR = pyengine.load_game("connect_four").new_initial_state([3, 3])


def search(
    algorithm: str,
    state: pyengine.State,
    simulations: int,
    *,
    evaluator: Any = "rollout",
    **settings: Any,
) -> pyengine.SearchResult:
    """Search with one leaf in flight."""
    settings |= {"algorithm": algorithm, "simulations": simulations}
    return pyengine.search(state, evaluator=evaluator, **SERIAL, **settings)


def test_flat_ucb_keeps_only_the_roots_children_and_uct_a_node_per_simulation() -> None:
    flat = search("flat_ucb", GOMOKU, 2000)
    assert flat.nodes == 1 + 81
    assert flat.evaluations == 2001  # a new playout for each visit, and one for the root
    assert search("uct", GOMOKU, 2000).nodes == 2001


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

    result = search("flat_ucb", state, 500, evaluator=pyengine.StateEvaluator(evaluate), uct_c=c)
    outcomes = {a: 0.5 - 0.5 * float(np.float32(v)) for a, v in values.items()}
    expected = ucb1_visits(outcomes, list(values), 500, c)
    assert {int(a): int(v) for a, v in zip(result.actions, result.visits, strict=True)} == expected


def test_moves_not_yet_tried_come_in_random_order() -> None:
    results = [search("uct", GOMOKU, 1, seed=seed) for seed in range(40)]
    assert len({result.visits.tolist().index(1) for result in results}) > 20


def test_expand_probability_keeps_moves_untried_in_uct_alone() -> None:
    def tried(probability: float, algorithm: str = "uct") -> int:
        result = search(algorithm, GOMOKU, 60, expand_probability=probability)
        assert result.visits.sum() == 60
        return int(np.count_nonzero(result.visits))

    assert tried(1.0) == 60
    assert 18 < tried(0.5) < 42  # 60 fair coin tosses, +-3 standard deviations
    assert 1 <= tried(0.05) < 15
    assert tried(0.1, "flat_ucb") == 60


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
def test_an_exploration_term_equals_its_formula(settings: dict[str, Any], score: Any) -> None:
    state = CONNECT_FOUR
    engine = Engine("connect_four", hashed(7), **settings, **SERIAL)
    for _ in range(100):
        before = engine.search(state, simulations=7)
        after = engine.search(state, simulations=1)
        chosen = int(np.argmax(after.visits - before.visits))
        scores = score(before.visits, before.q, before.priors)
        assert scores[chosen] == pytest.approx(scores.max(), abs=1e-6)


def test_choose_mean_plays_the_best_mean() -> None:
    visits, mean = (
        search("uct", CONNECT_FOUR, 300, choose=choose) for choose in ("visits", "mean")
    )
    assert np.array_equal(visits.visits, mean.visits)
    assert visits.action == visits.actions[np.argmax(visits.visits)]
    assert mean.action == mean.actions[np.nanargmax(mean.q)]


@pytest.mark.parametrize("algorithm", ["uct", "flat_ucb"])
def test_a_deterministic_search_is_the_same_for_any_number_of_threads(algorithm: str) -> None:
    state = pyengine.load_game("othello").new_initial_state()

    def visits(threads: int) -> Any:
        engine = Engine("othello", "rollout", algorithm=algorithm, deterministic=True)
        return engine.search(state, simulations=300, threads=threads).visits.tolist()

    assert visits(1) == visits(2) == visits(4)


def test_a_tree_continues_for_uct_but_not_for_flat_ucb_or_another_rule() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    engine = Engine("connect_four", "rollout", threads=1, algorithm="uct", solver=False)
    assert engine.search(state, simulations=100).visits.sum() == 100
    assert engine.search(state, simulations=100).visits.sum() == 200
    assert engine.search(state, simulations=100, algorithm="puct").visits.sum() == 100
    assert engine.search(state, simulations=100, algorithm="uct").visits.sum() == 100
    for _ in range(2):
        assert engine.search(state, simulations=100, algorithm="flat_ucb").visits.sum() == 100
