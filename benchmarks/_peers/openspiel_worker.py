"""OpenSpiel's MCTSBots behind the protocol of the C++ program. Runs in OpenSpiel's environment.

Rules: "puct" and "uct" of the Python bot, and "uct-c++" of the C++ bot in the wheel. UCT plays one
random game per leaf.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts


class UniformEvaluator(mcts.Evaluator):  # type: ignore[misc]
    """Equal priors and value 0."""

    def evaluate(self, state: Any) -> list[float]:
        """Return the value for both players."""
        return [0.0, 0.0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return the legal actions with equal probabilities."""
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def puct(game: Any, simulations: int, seed: int) -> Any:
    """Return the Python bot with equal priors and values of 0."""
    return mcts.MCTSBot(
        game,
        1.25,
        simulations,
        UniformEvaluator(),
        solve=False,
        random_state=np.random.RandomState(seed),
        child_selection_fn=mcts.SearchNode.puct_value,
    )


def uct(game: Any, simulations: int, seed: int) -> Any:
    """Return the Python bot with playouts."""
    random = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    return mcts.MCTSBot(game, 2.0, simulations, evaluator, solve=False, random_state=random)


def uct_in_cpp(game: Any, simulations: int, seed: int) -> Any:
    """Return the C++ bot with playouts."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 16_000, False, seed, False)


BOTS = {"puct": puct, "uct": uct, "uct-c++": uct_in_cpp}


def search(name: str, simulations: int, rule: str, seed: int) -> str:
    """Return "simulations visits seconds cpu-seconds" of a search of the initial position."""
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    begun, used = time.perf_counter(), time.process_time()
    bot = BOTS[rule](game, simulations, seed)
    root = bot.mcts_search(state)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    visits = sum(child.explore_count for child in root.children)
    return f"{root.explore_count} {visits} {wall!r} {cpu!r}"


for number, line in enumerate(sys.stdin):
    game_name, count, rule = line.split()
    print(search(game_name, int(count), rule, number + 1), flush=True)
