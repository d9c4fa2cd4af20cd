"""The promises of graph=True that callers see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine

GRAPH: dict[str, Any] = {"graph": True, "cache_entries": 0, "threads": 1}
SMALL_GAMES = ["tic_tac_toe", "connect_four", "othello(board_size=4)", "go(board_size=5)"]


def facts(result: pyengine.SearchResult) -> dict[str, Any]:
    """Return everything that does not depend on time."""
    values = {k: v for k, v in result.to_dict().items() if k != "seconds"}
    return {**values, "tree": result.tree(99)}


def positions_in(records: Any, state: Any) -> set[tuple[int, str]]:
    """Play the moves of a result's nodes and return the positions, with their plies."""
    states = [state]
    for record in records[1:]:
        states.append(states[record["parent"]].clone())
        states[-1].apply_action(int(record["action"]))
    return {(len(s.history()), str(s)) for s in states}


@pytest.mark.parametrize("name", SMALL_GAMES[:3])
def test_nodes_are_the_distinct_positions(name: str) -> None:
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, "uniform", **GRAPH, solver=False) as engine:
        result = engine.search(state, simulations=2000)
    positions = positions_in(result.tree_nodes, state)
    assert result.nodes == len(positions)
    assert len(result.tree_nodes) - (result.tree_nodes["same"] >= 0).sum() == len(positions)


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_a_position_has_a_visit_for_itself_and_one_for_each_of_a_move(name: str) -> None:
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, "uniform", **GRAPH, solver=False) as engine:
        result = engine.search(state, simulations=3000)
    nodes = result.tree_nodes
    assert result.visits.sum() == result.simulations == 3000
    visits = 1 + np.bincount(nodes["parent"][1:], nodes["visits"][1:], len(nodes))
    owner = np.where(nodes["same"] >= 0, nodes["same"], np.arange(len(nodes)))
    goes_on = nodes["to_move"] >= 0
    assert (nodes["visits"] <= visits[owner])[goes_on].all()
    # The children of an unshared position account for its visits exactly.
    alone = goes_on & ~np.isin(np.arange(len(nodes)), owner[nodes["same"] >= 0])
    alone &= nodes["same"] < 0
    assert (nodes["visits"] == visits)[alone].all()
