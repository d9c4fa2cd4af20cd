"""Runs in OpenSpiel's environment: its Python MCTSBot behind the protocol of the C++ program.

It has the rule "puct" alone.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts


class UniformEvaluator(mcts.Evaluator):  # type: ignore[misc]
    """Equal priors, value 0."""

    def evaluate(self, state: Any) -> list[float]:
        """Return the value for both players."""
        return [0.0, 0.0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return the legal actions, each with the same probability."""
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def search(name: str, simulations: int, seed: int) -> str:
    """Return "simulations visits seconds cpu-seconds" of a search of the initial position."""
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    begun, used = time.perf_counter(), time.process_time()
    bot = mcts.MCTSBot(
        game,
        1.25,
        simulations,
        UniformEvaluator(),
        solve=False,
        random_state=np.random.RandomState(seed),
        child_selection_fn=mcts.SearchNode.puct_value,
    )
    root = bot.mcts_search(state)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    visits = sum(child.explore_count for child in root.children)
    return f"{root.explore_count} {visits} {wall!r} {cpu!r}"


for number, line in enumerate(sys.stdin):
    game_name, count, _ = line.split()
    print(search(game_name, int(count), number + 1), flush=True)
