"""An explanation has exactly the numbers with which the search chooses next."""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any

import pytest

import pyengine
from naive_puct import SERIAL, hashed
from pyengine.search.tree import SearchTree
from toy_games import Pairs, ToyGame

GAMES = [
    "tic_tac_toe",
    "connect_four",
    "othello(board_size=6)",
    "gomoku(board_size=9)",
    "go(board_size=5)",
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"c_puct": 2.5, "c_puct_base": None, "fpu": "value", "fpu_value": 0.0},
    {"c_puct": 0.7, "c_puct_base": 50, "c_puct_factor": 2.0, "fpu": "parent"},
    {"root_c_puct": 3.0, "root_fpu_value": -0.4, "exploration": "alphago"},
    {"draw_value": 0.3},
    {"algorithm": "uct"},
    {"algorithm": "uct", "exploration": "log", "uct_c": 1.0},
]


def random_state(game: Any, rng: random.Random, plies: int) -> Any:
    state = game.new_initial_state()
    for _ in range(plies):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def follow_next(explain: Any, state: Any) -> list[int]:
    """Take the move with the largest sum until a position without an explanation."""
    path: list[int] = []
    while True:
        try:
            table = explain(path)
        except (pyengine.ConfigError, pyengine.EngineError):
            return path
        if table.action is None:
            return path
        assert table.moves[0].sum == max(move.sum for move in table.moves)
        path.append(table.action)
        state.apply_action(table.action)
        if state.is_terminal():
            return path


def check_next_moves(game: Any, state: Any, evaluator: Any, live: bool, **settings: Any) -> int:
    """Compare the paths of simulations with the explanations; return the number of choices."""
    engine = pyengine.Engine(game, evaluator, **{**SERIAL, **settings})
    result = engine.search(state, simulations=60)
    compared = 0
    for _ in range(20):
        expected = follow_next(engine.explain if live else result.explain, state.clone())
        before = {tuple(expected[:n]): visits(engine, expected[:n]) for n in range(len(expected))}
        result = engine.search(state, simulations=1)
        for n, action in enumerate(expected):
            after = visits(engine, expected[:n])
            assert after.pop(action) == before[tuple(expected[:n])].pop(action) + 1
            assert after == before[tuple(expected[:n])]
        compared += len(expected)
    return compared


def visits(engine: pyengine.Engine, path: list[int]) -> dict[int, int]:
    return {move.action: move.visits for move in engine.explain(path).moves}


@pytest.mark.parametrize("live", [False, True], ids=["result", "engine"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("name", GAMES)
def test_the_move_with_the_largest_sum_gets_the_next_visit(
    name: str, settings: dict[str, Any], live: bool
) -> None:
    game = pyengine.load_game(name)
    rng = random.Random(f"{name}{settings}")
    for flat in (0, 2):  # with 2 there are many ties
        evaluator = hashed(game.num_distinct_actions(), flat)
        state = random_state(game, rng, rng.randrange(6))
        assert check_next_moves(game, state, evaluator, live, **settings) >= 20


@pytest.mark.parametrize("live", [False, True], ids=["result", "engine"])
def test_a_player_who_moves_twice_keeps_the_sign(live: bool) -> None:
    game = ToyGame(Pairs)
    assert check_next_moves(game, game.new_initial_state(), hashed(20, 0), live) >= 20


@pytest.mark.parametrize("live", [False, True], ids=["result", "engine"])
def test_of_moves_with_equal_priors_the_smallest_is_next(live: bool) -> None:
    game = pyengine.load_game("gomoku(board_size=5)")
    state, uniform = game.new_initial_state(), pyengine.UniformEvaluator()
    assert check_next_moves(game, state, uniform, live) >= 20


def test_the_engine_also_explains_the_deviation_of_values() -> None:
    game = pyengine.load_game("connect_four")
    state, evaluator = game.new_initial_state(), hashed(7, 0)
    assert check_next_moves(game, state, evaluator, True, c_puct_stdev=0.85) >= 20


def test_below_the_root_gumbel_takes_the_move_that_lags_behind_its_policy() -> None:
    game = pyengine.load_game("connect_four")
    with pyengine.Engine(game, hashed(7, 0), **SERIAL, algorithm="gumbel") as engine:
        state = game.new_initial_state()
        result = engine.search(state, simulations=300)
        for _ in range(100):
            visited = result.actions[result.visits > 0].tolist()
            tables = {action: engine.explain([action]) for action in visited}
            result = engine.search(state, simulations=1)
            for action, table in tables.items():
                now = visits(engine, [action])
                grown = [move.action for move in table.moves if now[move.action] > move.visits]
                assert grown in ([], [table.action])


def test_the_root_of_gumbel_explains_the_move_that_it_plays() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    for seed in range(20):
        settings = {"algorithm": "gumbel", "gumbel_noise": False, "seed": seed}
        result = pyengine.search(state, evaluator="rollout", simulations=50, **settings)
        assert result.explain().action == result.action


def test_a_proven_loss_is_never_next() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4, 1])  # c1 threatens to win
    result = pyengine.search(state, evaluator="uniform", simulations=20, stop_when_decided=False)
    lost = [move for move in result.explain().moves if move.proven == -1]
    assert lost
    assert all(move.sum == -math.inf for move in lost)


def test_names_and_actions_are_the_same_path() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    result = pyengine.search(state, evaluator="connect4", simulations=100)
    assert result.explain([3, 2]) == result.explain(["4", "3"])


def test_an_explanation_is_a_table() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    explanation = pyengine.search(state, evaluator="connect4", simulations=100).explain()
    assert json.loads(json.dumps(explanation.to_dict())) == explanation.to_dict()
    assert str(explanation).splitlines()[1].split() == ["move", "N", "P", "Q", "U", "sum"]
    assert explanation._repr_html_().count("<tr>") == 8


def test_the_table_of_a_wide_position_is_short() -> None:
    state = pyengine.load_game("go(board_size=9)").new_initial_state()
    explanation = pyengine.search(state, evaluator="uniform", simulations=100).explain()
    assert str(explanation).endswith("and 72 more, none with a larger sum")


WRONG = [
    ({}, "4", "path: expected a sequence"),
    ({}, [-1], "path: expected an int"),
    ({}, [3, 3, 3, 3, 3, 3], "path: the result does not keep"),
    ({"algorithm": "gumbel"}, [], "explain: expected gumbel_noise=False"),
    (
        {"algorithm": "gumbel"},
        [3],
        'explain: a result keeps too little to explain algorithm="gumbel"',
    ),
    ({"c_puct_stdev": 0.5}, [3], "explain: a result keeps too little to explain c_puct_stdev"),
]


@pytest.mark.parametrize(("settings", "path", "message"), WRONG, ids=str)
def test_what_a_result_cannot_explain_is_refused(
    settings: dict[str, Any], path: Any, message: str
) -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    result = pyengine.search(state, evaluator="uniform", simulations=20, **settings)
    with pytest.raises(pyengine.ConfigError, match=re.escape(message)):
        result.explain(path)


def test_the_engine_follows_an_advance() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    with pyengine.Engine("connect_four", "connect4") as engine:
        with pytest.raises(pyengine.ConfigError, match="explain: there is no tree yet"):
            engine.explain()
        engine.search(state, simulations=100)
        below = engine.explain([3])
        engine.advance(3)
        assert engine.explain().moves == below.moves
        engine.clear()
        with pytest.raises(pyengine.ConfigError, match="tree: there is no tree yet"):
            engine.tree()


def test_the_engines_tree_has_more_nodes_than_a_result_keeps() -> None:
    def size(tree: SearchTree) -> int:
        return 1 + sum(map(size, tree.children))

    state = pyengine.load_game("connect_four").new_initial_state()
    with pyengine.Engine("connect_four", "uniform", solver=False) as engine:
        result = engine.search(state, simulations=9000)
        assert size(result.tree(max_depth=99)) == 4096
        assert size(engine.tree(max_depth=99)) == result.nodes
        assert size(engine.tree(max_depth=99, max_nodes=50)) == 50
