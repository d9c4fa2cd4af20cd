"""Searches against external numbers: OpenSpiel's and mctx's trees, Pons' endgames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyengine
from naive_puct import SERIAL
from positions import children, value_after
from pyengine.exact import Solver
from toy_games import Endless, ToyGame

Oracle = Callable[[str], list[dict[str, Any]]]
Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]

ONE_BY_ONE = {**SERIAL, "reuse_tree": False}
OPEN_SPIEL_GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "othello": "othello",
    "mnk(m=5,n=5,k=4)": "mnk(rows=5,columns=5,k=4)",
}


def table_evaluator(
    table: dict[str, dict[str, Any]], depth: int, actions: int
) -> pyengine.StateEvaluator:
    """Look up a state by its actions after the first ``depth``."""

    def look_up(states: list[Any]) -> Arrays:
        policy = np.zeros((len(states), actions))
        value = np.zeros(len(states))
        for i, state in enumerate(states):
            entry = table[" ".join(map(str, state.history()[depth:]))]
            for action, prior in entry["priors"].items():
                policy[i, int(action)] = prior
            value[i] = entry["value"]
        return policy, value

    return pyengine.StateEvaluator(look_up)


def test_visits_and_values_are_those_of_open_spiel(oracle: Oracle) -> None:
    checked = 0
    for case in oracle("09-mcts/puct_traces_open_spiel.jsonl"):
        game = pyengine.load_game(OPEN_SPIEL_GAMES[case["game"]])
        state = game.new_initial_state()
        for action in case["root_actions"]:
            state.apply_action(action)
        evaluator = table_evaluator(
            case["evaluations"], len(case["root_actions"]), game.num_distinct_actions()
        )
        engine = pyengine.Engine(
            game,
            evaluator,
            **ONE_BY_ONE,
            c_puct=case["c_puct"],
            c_puct_base=None,
            fpu="value",
            fpu_value=0,
        )
        for expected in case["expected"]:
            # There the root's own evaluation is the first simulation.
            simulations = expected["simulations"] - 1
            if expected["mode"] != "puct" or simulations == 0:
                continue
            result = engine.search(state, simulations=simulations)
            for i, action in enumerate(result.actions.tolist()):
                visits, q = expected["children"][str(action)]
                assert result.visits[i] == visits, (case["id"], simulations, action)
                if visits:
                    assert result.q[i] == pytest.approx(q, abs=1e-6), (case["id"], action)
            checked += 1
    assert checked >= 50


def below(tree: dict[str, Any], path: tuple[int, ...]) -> dict[tuple[int, ...], dict[str, Any]]:
    """Return all nodes of a tree by path."""
    nodes = {path: tree}
    for child in tree["children"]:
        nodes |= below(child, (*path, child["action"]))
    return nodes


def test_the_whole_tree_is_that_of_mctx_muzero(oracle: Oracle) -> None:
    rows = oracle("09-mcts/mctx_golden_trees.jsonl")
    golden = next(row for row in rows if row["name"] == "muzero_tree")
    nodes = {tuple(node["path"]): node for node in golden["nodes"]}
    table = {
        " ".join(map(str, path)): {
            "value": node["network_value"],
            "priors": dict(enumerate(node["priors"])),
        }
        for path, node in nodes.items()
    }
    game = ToyGame(Endless)
    engine = pyengine.Engine(
        game,
        table_evaluator(table, 0, 82),
        **ONE_BY_ONE,
        c_puct=2.5,
        c_puct_factor=2,
        c_puct_base=19652,
        fpu="value",
        fpu_value=-1,
    )
    state = game.new_initial_state()
    result = engine.search(state, simulations=golden["num_simulations"])
    root = nodes[()]
    assert {a: n for a, n in enumerate(result.visits.tolist()) if n} == {
        int(a): n for a, n in root["child_visits"].items()
    }
    assert result.value == pytest.approx(root["mean_value"], abs=1e-6)
    tree = below(result.tree(max_depth=1000).to_dict(), ())
    assert tree.keys() == nodes.keys()
    for path, node in nodes.items():
        assert tree[path]["visits"] == node["visits"], path
        # Their values are for the player to move, ours for the player who moved.
        assert tree[path]["q"] == pytest.approx(-node["mean_value"], abs=1e-6), path


def sign(x: int) -> int:
    return (x > 0) - (x < 0)


def column_scores(row: dict[str, Any]) -> dict[int, int]:
    return {c: int(s) for c, s in enumerate(row["column_scores"].split()) if s != "."}


def check_endgames(rows: list[dict[str, Any]], evaluator: str, simulations: int) -> None:
    """Check that the value is right and the move preserves it."""
    game = pyengine.load_game("connect_four")
    engine = pyengine.Engine(game, evaluator, simulations=simulations, threads=1)
    for row in rows:
        state = game.new_initial_state([int(c) - 1 for c in row["moves"]])
        result = engine.search(state)
        assert result.proven == sign(int(row["score"])), row["moves"]
        assert sign(column_scores(row)[result.action]) == sign(int(row["score"])), row["moves"]


@pytest.mark.parametrize(("evaluator", "every"), [("uniform", 5), ("rollout", 5)])
def test_connect_four_endgames_are_solved(oracle: Oracle, evaluator: str, every: int) -> None:
    rows = oracle("05-connect-four/pons_L3_R1.csv")
    check_endgames(rows[evaluator == "rollout" :: every], evaluator, 1_000_000)


@pytest.mark.slow
def test_connect_four_middle_games_are_solved(oracle: Oracle) -> None:
    check_endgames(oracle("05-connect-four/pons_L2_R1.csv")[:100], "rollout", 20_000_000)


def positions_of_tic_tac_toe() -> list[pyengine.State]:
    """Return all non-terminal states with distinct boards."""
    waiting = [pyengine.load_game("tic_tac_toe").new_initial_state()]
    states: dict[str, pyengine.State] = {}
    while waiting:
        state = waiting.pop()
        if state.is_terminal() or str(state) in states:
            continue
        states[str(state)] = state
        waiting += children(state)
    return [*states.values()]


@pytest.mark.parametrize(("evaluator", "every"), [("uniform", 1), ("rollout", 5)])
def test_tic_tac_toe_is_solved_from_every_position(evaluator: str, every: int) -> None:
    states = positions_of_tic_tac_toe()
    assert len(states) == 4520
    engine = pyengine.Engine("tic_tac_toe", evaluator, simulations=200_000, threads=1)
    solver = Solver("tic_tac_toe", table_mb=1)
    for state in states[::every]:
        expected = solver.solve(state).value
        result = engine.search(state)
        assert (result.proven, result.value) == (expected, expected), str(state)
        assert result.stop_reason == "proven"
        after = value_after(state, result.action, lambda state: solver.solve(state).value)
        assert after == expected, str(state)
