"""Players without a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import StateEvaluator
from pyengine.games import as_game
from pyengine.match import RandomPlayer, ValuePlayer
from toy_games import Pairs, ToyGame


class ByMove:
    """Values a position for player 0 by its last action; actions not in the table are worth -1."""

    def __init__(self, table: dict[int, float]) -> None:
        self.table = table
        self.rows: list[int] = []

    def __call__(self, states: Sequence[Any]) -> tuple[Any, Any]:
        """Evaluate for the player to move, or who would move after the end."""
        self.rows.append(len(states))
        values = []
        for state in states:
            worth = self.table.get(state.history()[-1], -1.0)
            values.append(worth if len(state.history()) % 2 == 0 else -worth)
        return np.ones((len(states), 9)), values


def test_random_actions_are_uniform() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4, 8])
    player = RandomPlayer(3)
    counts = Counter(player(state) for _ in range(1200))
    assert set(counts) == set(state.legal_actions())
    expected = 1200 / 6
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 20.5  # 99.9 % of chi²(5)


def test_a_seed_gives_the_same_moves_in_single_calls_and_in_batches() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state()
    one, many = RandomPlayer((1, 2)), RandomPlayer((1, 2))
    assert [one(state) for _ in range(20)] == [c.action for c in many.search_many([state] * 20)]


@pytest.mark.parametrize("history", [[], [0]])
def test_the_position_that_is_best_for_the_mover_is_chosen(history: list[int]) -> None:
    evaluate = ByMove({3: 0.5, 7: 0.25, 5: -0.5} if not history else {3: -0.5, 7: 0.25, 5: 0.5})
    if history:  # player 1 minimises
        evaluate.table.update({a: 1.0 for a in range(9) if a not in evaluate.table})
    state = pyengine.load_game("tic_tac_toe").new_initial_state(history)
    (choice,) = ValuePlayer(StateEvaluator(evaluate)).search_many([state])
    assert choice.action == 3
    assert choice.value == pytest.approx(0.5)


def test_all_moves_of_all_states_are_evaluated_together() -> None:
    evaluate = ByMove({})
    game = pyengine.load_game("tic_tac_toe")
    states = [game.new_initial_state(), game.new_initial_state([4]), game.new_initial_state([4, 0])]
    ValuePlayer(StateEvaluator(evaluate)).search_many(states)
    assert evaluate.rows == [9 + 8 + 7]


def test_ties_go_to_the_smallest_action() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0])
    assert ValuePlayer("uniform")(state) == 1


def test_terminal_positions_are_valued_by_the_rules_or_the_evaluator() -> None:
    game = pyengine.load_game("tic_tac_toe")
    state = game.new_initial_state([0, 3, 1, 4])  # 2 wins for player 0
    evaluate = StateEvaluator(ByMove({2: -0.5, 8: 0.75}))
    assert ValuePlayer(evaluate)(state) == 2
    assert ValuePlayer(evaluate, ends="evaluator")(state) == 8
    other = game.new_initial_state([0, 3, 1, 4, 8])  # 5 wins for player 1
    table = {5: -0.25, 2: 0.5, 6: 0.5, 7: 0.5}
    (choice,) = ValuePlayer(StateEvaluator(ByMove(table)), ends="evaluator").search_many([other])
    assert (choice.action, choice.value) == (5, 0.25)


def test_the_value_of_a_player_who_moves_again_keeps_its_sign() -> None:
    def evaluate(states: Sequence[Any]) -> tuple[Any, Any]:
        values = [0.5 if state.history()[-1] == 7 else -0.5 for state in states]
        return np.ones((len(states), 20)), values

    game = as_game(ToyGame(Pairs))  # after the first move each player moves twice
    player = ValuePlayer(StateEvaluator(evaluate))
    assert player(game.new_initial_state([0])) == 7
    assert player(game.new_initial_state([0, 1])) == 2


def test_simple_players_play_matches() -> None:
    result = pyengine.match(
        ValuePlayer("rollout"), RandomPlayer(1), game="tic_tac_toe", games=20, seed=1
    )
    assert result.games == 20
    assert result.wins > result.losses
