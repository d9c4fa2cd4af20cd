"""``choose="lcb"``: the move with the best lower confidence bound."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import naive_puct
import pyengine
from naive_puct import SERIAL, Node, Settings, evaluated_by, hashed

CHOICES: list[Literal["lcb", "visits"]] = ["lcb", "visits"]


@pytest.mark.parametrize(
    ("name", "stdevs", "share"),
    [("connect_four", 5.0, 0.15), ("gomoku(board_size=7)", 1.0, 0.0), ("othello", 0.0, 0.5)],
)
def test_bounds_and_moves_equal_those_of_a_naive_search(
    name: str, stdevs: float, share: float
) -> None:
    game = pyengine.load_game(name)
    evaluator = hashed(game.num_distinct_actions())
    evaluate = evaluated_by(evaluator, game)
    engine = pyengine.Engine(
        game, evaluator, **SERIAL, choose="lcb", lcb_stdevs=stdevs, lcb_visits=share
    )
    state = game.new_initial_state()
    node: Node | None = None
    for _ in range(3):
        earlier = {action: child.n for action, child in node.children.items()} if node else {}
        node = naive_puct.search(state, evaluate, 150, Settings(), node)
        result = engine.search(state, simulations=150)
        bounds = naive_puct.lower_bounds(node, earlier, stdevs)
        assert result.lcb is not None
        np.testing.assert_allclose(
            result.lcb, [bounds[a] for a in result.actions.tolist()], atol=2e-6
        )
        most = max(child.n for child in node.children.values())
        enough = [a for a, child in node.children.items() if child.n and child.n >= share * most]
        assert result.action == max(enough, key=bounds.__getitem__)
        state.apply_action(result.action)
        engine.advance(result.action)
        node = node.children[result.action]


@pytest.mark.parametrize(
    ("in_flight", "batch_size", "graph"), [(256, 64, False), (None, 8, False), (None, 8, True)]
)
def test_every_visit_counts_with_many_leaves_in_flight_and_at_transpositions(
    in_flight: int | None, batch_size: int, graph: bool
) -> None:
    # With equal values the variance is the prior's alone, 1 / (1 + visits^3).
    def constant(states: list[pyengine.State]) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((len(states), 81)), np.zeros(len(states))

    result = pyengine.search(
        pyengine.load_game("gomoku(board_size=9)").new_initial_state(),
        evaluator=pyengine.StateEvaluator(constant),
        simulations=5000,
        choose="lcb",
        solver=False,
        threads=2,
        cache_entries=0,
        in_flight=in_flight,
        batch_size=batch_size,
        graph=graph,
    )
    assert result.lcb is not None
    visits = result.visits.astype(float)
    expected = result.q - 5 * np.sqrt(1 / (1 + visits**3) / visits)
    np.testing.assert_allclose(result.lcb, expected, atol=1e-6)


def test_deterministic_bounds_do_not_depend_on_the_threads() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 3])
    one, two = (
        pyengine.search(
            state,
            evaluator="connect4",
            simulations=300,
            choose="lcb",
            deterministic=True,
            threads=threads,
        )
        for threads in (1, 2)
    )
    assert one.action == two.action
    assert one.lcb is not None
    assert two.lcb is not None
    np.testing.assert_array_equal(one.lcb, two.lcb)


def test_a_long_search_with_immediate_answers_has_all_its_values() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    result = pyengine.search(
        state, evaluator="uniform", simulations=20_000, choose="lcb", threads=2, solver=False
    )
    assert result.lcb is not None
    assert result.visits.sum() == 20_000
    # The values are 0, 1 and -1: their variance is far below the prior's of an unvisited move.
    assert np.all(result.q - result.lcb < 5 / np.sqrt(result.visits))


@pytest.mark.parametrize(
    ("moves", "simulations"),
    [([0, 1, 0, 1, 0, 1], 50), ([6, 0, 6, 0, 5, 0], 400)],  # 0 wins; the others lose
)
def test_a_proven_win_comes_first_and_a_proven_loss_last(
    moves: list[int], simulations: int
) -> None:
    state = pyengine.load_game("connect_four").new_initial_state(moves)
    result = pyengine.search(state, simulations=simulations, evaluator="uniform", choose="lcb")
    assert result.action == 0


def test_a_temperature_draws_by_visits() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    for seed in range(5):
        bounds, visits = (
            pyengine.search(
                state,
                evaluator="connect4",
                simulations=100,
                threads=1,
                temperature=1.0,
                seed=seed,
                choose=choose,
            )
            for choose in CHOICES
        )
        assert bounds.action == visits.action
        assert visits.lcb is None
