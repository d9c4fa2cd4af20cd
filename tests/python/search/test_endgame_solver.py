"""PUCT with the endgame solver at leaves near the end."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import pyengine
from positions import random_state, value_after
from pyengine import ConfigError, Engine, SearchConfig, SelfPlayConfig
from toy_games import Pairs, ToyGame


@pytest.mark.parametrize(
    ("text", "plies", "empties"),
    [("othello", 50, 9), ("connect_four", 28, 13), ("gomoku(board_size=5)", 17, 7)],
)
def test_near_the_end_the_first_leaves_prove_the_root(text: str, plies: int, empties: int) -> None:
    game = pyengine.load_game(text)
    rng = random.Random(text)
    settings: Any = {"evaluator": "uniform", "simulations": 2000, "threads": 2}
    for _ in range(4):
        state = random_state(game, plies, rng)
        result = pyengine.search(state, endgame_solver_empties=empties, **settings)
        value = pyengine.solve(state, table_mb=4).value
        assert result.proven == value
        after = value_after(state, result.action, lambda s: pyengine.solve(s, table_mb=4).value)
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
