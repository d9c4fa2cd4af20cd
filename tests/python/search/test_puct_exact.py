"""Visit counts are exactly those of the textbook algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import naive_puct
import pyengine
from naive_puct import SERIAL, Node, Settings, evaluated_by, hashed
from toy_games import Pairs, ToyGame

GAMES = {
    "tic_tac_toe": 250,
    "mnk(rows=4,columns=5,k=4)": 200,
    "connect_four": 250,
    "othello(board_size=6)": 150,
    "gomoku(board_size=9)": 100,
    "go(board_size=7,komi=7.0)": 100,
}
SETTINGS = [
    Settings(),
    Settings(c_puct=2.5, c_puct_base=None, fpu="value", fpu_value=0.0),
    Settings(c_puct=0.7, c_puct_base=50, c_puct_factor=2.0, fpu="parent"),
    Settings(c_puct=2.5, c_puct_factor=2.0, fpu="value", fpu_value=-1.0),
    Settings(fpu="reduction", fpu_value=-0.5),
    Settings(c_puct_stdev=0.85),
    Settings(root_c_puct=3.0, root_fpu_value=-0.4, c_puct_stdev=0.3),
]


def check_equal(result: pyengine.SearchResult, node: Node) -> None:
    sign = 1 if node.player == 0 else -1
    expected = [node.children[a] for a in result.actions.tolist()]
    assert result.actions.tolist() == sorted(node.children)
    assert result.priors.tolist() == [np.float32(child.prior) for child in expected]
    assert result.visits.tolist() == [child.n for child in expected]
    q = [sign * child.w / child.n if child.n else np.nan for child in expected]
    np.testing.assert_allclose(result.q, q, atol=1e-6)
    assert result.value == pytest.approx(sign * node.w / node.n, abs=1e-6)


def play(game: Any, evaluator: Any, settings: Settings, simulations: int, plies: int) -> None:
    """Search and advance a few plies, keeping the naive tree as the engine keeps its own."""
    evaluate = evaluated_by(evaluator, game)
    engine = pyengine.Engine(game, evaluator, **SERIAL, **vars(settings))
    state = game.new_initial_state()
    node: Node | None = None
    for ply in range(plies):
        if state.is_terminal():
            return
        node = naive_puct.search(state, evaluate, simulations, settings, node)
        result = engine.search(state, simulations=simulations)
        check_equal(result, node)
        # Not always the best move, so small subtrees are reused as well.
        moves = np.argsort(result.visits, kind="stable")
        action = int(result.actions[moves[-1 - ply % 2]])
        state.apply_action(action)
        engine.advance(action)
        node = node.children[action] if node.children[action].n else None


@pytest.mark.parametrize(
    ("name", "settings"),
    [(name, SETTINGS[(i + k) % 7]) for i, name in enumerate(GAMES) for k in (0, 2)],
    ids=str,
)
def test_visits_equal_the_textbook_with_reuse_of_the_tree(name: str, settings: Settings) -> None:
    game = pyengine.load_game(name)
    evaluator = hashed(game.num_distinct_actions(), 0)
    play(game, evaluator, settings, GAMES[name], 3)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_ties_go_to_the_larger_prior_then_to_the_smaller_action(name: str) -> None:
    game = pyengine.load_game(name)
    for flat in (1, 2, 4):  # exact in binary, so ties are ties
        evaluator = hashed(game.num_distinct_actions(), flat)
        for settings in SETTINGS[:2]:
            play(game, evaluator, settings, 80, 2)


@pytest.mark.parametrize("settings", [*SETTINGS[:2], SETTINGS[5]], ids=str)
def test_a_player_who_moves_twice_keeps_the_sign(settings: Settings) -> None:
    play(ToyGame(Pairs), hashed(20, 0), settings, 120, 4)
