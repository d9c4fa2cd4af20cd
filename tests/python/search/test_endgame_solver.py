"""PUCT with the endgame solver at leaves near the end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pyengine
from pyengine import ConfigError, Engine, SearchConfig, SelfPlayConfig
from toy_games import Pairs, ToyGame


def ending(game: pyengine.Game, plies: int, rng: random.Random) -> pyengine.State:
    while True:
        state = game.new_initial_state()
        for _ in range(plies):
            if not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal() and len(state.legal_actions()) > 1:
            return state


@pytest.mark.parametrize(
    ("text", "plies", "empties"),
    [("othello", 50, 9), ("connect_four", 28, 13), ("gomoku(board_size=5)", 17, 7)],
)
def test_near_the_end_the_first_leaves_prove_the_root(text: str, plies: int, empties: int) -> None:
    game = pyengine.load_game(text)
    rng = random.Random(text)
    for _ in range(4):
        state = ending(game, plies, rng)
        result = pyengine.search(
            state,
            evaluator="uniform",
            endgame_solver_empties=empties,
            simulations=2000,
            threads=2,
        )
        value = pyengine.solve(state, table_mb=4).value
        assert result.proven == value
        child = state.clone()
        child.apply_action(result.action)
        after = child.returns()[state.current_player()] if child.is_terminal() else None
        if after is None:
            sign = 1 if child.current_player() == state.current_player() else -1
            after = sign * pyengine.solve(child, table_mb=4).value
        assert after == value
        assert result.nodes <= 1 + len(state.legal_actions())  # no leaf was searched deeper


def test_games_whose_boards_do_not_fill_are_refused(tmp_path: Path) -> None:
    expected = r"^endgame_solver_empties: expected 0 for .*got 3"
    game = pyengine.load_game("go", board_size=5)
    for other in (game, ToyGame(Pairs)):
        engine = Engine(other, "uniform", endgame_solver_empties=3)
        with pytest.raises(ConfigError, match=expected):
            engine.search(other.new_initial_state())
    config = SelfPlayConfig(search=SearchConfig(simulations=8, endgame_solver_empties=3))
    with pytest.raises(ConfigError, match=expected):
        pyengine.selfplay(game, "rollout", games=1, out=tmp_path, config=config)
