"""On random games a search of a graph proves nothing false, and finds the minimax values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.search.tree import SearchTree
from random_games import RandomGame, RandomState, blurred

#: ``make slow`` plays 5,000 games.
BLOCKS = [range(250), *(pytest.param(range(n, n + 950), marks=pytest.mark.slow)
                        for n in range(250, 5000, 950))]  # fmt: skip


def contradictions(tree: SearchTree, state: RandomState) -> list[str]:
    """Return the proven nodes whose value brute force denies."""
    found, pending = [], [(tree, state, 1 - state.current_player())]
    while pending:
        node, position, chooser = pending.pop()
        for_first = node.proven if chooser == 0 else -(node.proven or 0)
        if node.proven is not None and for_first != position.minimax:
            found.append(f"{position.moves}: {node}, but {position.minimax}")
        for child in node.children:
            after = position.clone()
            after.apply_action(child.action or 0)
            pending.append((child, after, position.current_player()))
    return found


@pytest.mark.parametrize("seeds", BLOCKS, ids=str)
def test_brute_force_contradicts_no_proof(seeds: range) -> None:
    proofs = 0
    for seed in seeds:
        game = RandomGame(seed)
        state = game.new_initial_state()
        settings: dict[str, Any] = {"threads": 1, "batch_size": 1 + seed % 4, "cache_entries": 0}
        with pyengine.Engine(game, blurred(game, seed), graph=True, **settings) as engine:
            for simulations in (8, 100, 400):
                result = engine.search(state, simulations=simulations)
                assert contradictions(result.tree(99), state) == [], seed
            proofs += result.proven is not None
    assert proofs > len(seeds) / 2


def errors(seed: int, simulations: int) -> list[tuple[float, bool]]:
    """Return of tree and graph: how far the root is from minimax, and whether the move is best."""
    game = RandomGame(seed)
    state = game.new_initial_state()
    sign = 1 - 2 * state.current_player()
    found = []
    for graph in (False, True):
        with pyengine.Engine(
            game, blurred(game, seed), threads=1, solver=False, graph=graph
        ) as engine:
            result = engine.search(state, simulations=simulations)
        after = state.clone()
        after.apply_action(result.action)
        error = abs(result.value - sign * state.minimax)
        found.append((error, after.minimax == state.minimax))
    return found


@pytest.mark.parametrize(
    ("games", "simulations"), [(40, 400), pytest.param(1000, 4000, marks=pytest.mark.slow)]
)
def test_a_graph_is_as_close_to_minimax_as_a_tree(games: int, simulations: int) -> None:
    all_errors = np.array([errors(seed, simulations) for seed in range(games)])
    (tree, tree_best), (graph, graph_best) = all_errors.mean(axis=0)
    difference = all_errors[:, 1, 0] - all_errors[:, 0, 0]
    noise = 2 * difference.std() / np.sqrt(games)
    assert graph <= tree + noise
    assert graph_best >= tree_best - 2 / np.sqrt(games)
    assert graph_best > 0.9
