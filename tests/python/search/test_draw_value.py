"""``draw_value``: what a draw is worth to the player to move at the root."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import naive_puct
import pyengine
from naive_puct import SERIAL, Settings, evaluated_by, hashed
from pyengine import ConfigError, Engine, ModelSpec

GAME = pyengine.load_game("tic_tac_toe")
#: One move is left, for the first player: it draws. One move earlier, the other move loses.
LAST = [0, 1, 2, 4, 3, 5, 7, 6]


@pytest.mark.parametrize("draw_value", [0.6, -0.8])
@pytest.mark.parametrize("opening", [[], [4]])
def test_visits_equal_those_of_a_naive_search_and_a_tree_lasts_for_one_side(
    opening: list[int], draw_value: float
) -> None:
    settings = Settings(draw_value=draw_value)
    evaluator = hashed(GAME.num_distinct_actions())
    evaluate = evaluated_by(evaluator, GAME)
    engine = Engine(GAME, evaluator, **SERIAL, draw_value=draw_value)
    state = GAME.new_initial_state(opening)
    node = None
    while not state.is_terminal():
        node = naive_puct.search(state, evaluate, 300, settings, node)
        result = engine.search(state, simulations=300)
        assert result.visits.tolist() == [node.children[a].n for a in result.actions.tolist()]
        sign = 1 if node.player == 0 else -1
        assert result.value == pytest.approx(sign * node.w / node.n, abs=1e-6)
        for _ in range(2):
            visited = {a: child for a, child in node.children.items() if child.n}
            action = max(visited, key=lambda a: visited[a].n)
            node = visited[action]
            state.apply_action(action)
            engine.advance(action)
            if not node.children:
                return


def test_a_tree_is_not_continued_for_the_opponent_or_with_another_value() -> None:
    engine = Engine("connect_four", "uniform", simulations=100, draw_value=0.5)
    state = engine.game.new_initial_state()
    engine.search(state)
    assert engine.search(state).reused == 100
    assert engine.search(state, draw_value=0.25).reused == 0
    state.apply_action(3)
    engine.advance(3)
    assert engine.search(state, draw_value=-0.25).reused > 0  # the same value for both players
    assert engine.search(state, draw_value=0.25).reused == 0


@pytest.mark.parametrize(
    ("evaluator", "settings"),
    [
        ("uniform", {}),  # a terminal draw, which is proven
        ("uniform", {"endgame_solver_empties": 9}),
        ("uniform", {"algorithm": "gumbel"}),
        ("uniform", {"algorithm": "uct"}),
        ("uniform", {"solver": False, "simulations": 500}),
        ("rollout", {"solver": False}),
    ],
)
@pytest.mark.parametrize("back", [0, 1])
def test_draws_count_for_the_player_at_the_root_and_stay_proven(
    evaluator: Any, settings: dict[str, Any], back: int
) -> None:
    state = GAME.new_initial_state(LAST[: len(LAST) - back])
    config = {"simulations": 50, "draw_value": 0.75} | settings
    result = pyengine.search(state, evaluator=evaluator, **config)
    if result.proven is not None:
        assert (result.proven, result.value, result.win_rate) == (0, 0.75, 0.5)
        return  # q is still the mean, with evaluations from before the proof
    best = result.q[result.actions.tolist().index(result.action)]
    assert best == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("value_for", ["mover", "first_player"])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_network_with_a_3_way_value_gives_the_probability_of_a_draw(
    value_for: Literal["mover", "first_player"], mixed: bool
) -> None:
    def network(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), 7)), np.tile([0.25, 0.5, 0.25], (len(planes), 1))

    spec = ModelSpec(
        planes=("own[0]",), value=("win", "draw", "loss"), value_kind="probs", value_for=value_for
    )
    evaluator: Any = pyengine.CallbackEvaluator(network, spec)
    share = 0.5
    if mixed:
        evaluator, share = pyengine.MixedEvaluator(evaluator, "uniform", 0.5), 0.25
    engine = Engine("connect_four", evaluator, simulations=100)
    for state in (engine.game.new_initial_state(), engine.game.new_initial_state([3])):
        for draw_value in (0.0, 0.5, -1.0):  # the later ones are answered from the cache
            result = engine.search(state, draw_value=draw_value)
            assert result.network_value == pytest.approx(share * draw_value, abs=1e-6)
            assert result.value == pytest.approx(share * draw_value, abs=1e-6)


def test_a_graph_counts_draws_as_a_tree_does() -> None:
    state = GAME.new_initial_state([4])
    engine = Engine(
        GAME, "uniform", simulations=10_000, draw_value=0.75, threads=1, reuse_tree=False
    )
    tree, graph = (engine.search(state, graph=shared, solver=False) for shared in (False, True))
    assert graph.nodes < tree.nodes
    assert graph.value == pytest.approx(tree.value, abs=0.03)
    proven = engine.search(state, graph=True)
    assert (proven.proven, proven.value) == (0, 0.75)


def test_self_play_refuses_it() -> None:
    with pytest.raises(ConfigError, match="draw_value"):
        pyengine.SelfPlayConfig(search=pyengine.SearchConfig(draw_value=0.1))
