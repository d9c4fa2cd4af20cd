"""Compare all search algorithms on one position.

Run: python every_search.py [SIMULATIONS]
"""

from __future__ import annotations

import argparse

import pyengine

MOVES = "6 6 1 3 3 2 5 2 6 5 2 2 6 3 3 3 2 5 5 4"  # X to move: only 6 wins

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("simulations", type=int, nargs="?", default=400)
simulations = parser.parse_args().simulations

game = pyengine.load_game("connect_four")
state = game.new_initial_state()
for move in MOVES.split():
    state.apply_action(state.string_to_action(move))
print(state)

mixed = pyengine.MixedEvaluator("connect4", "rollout", mix=0.5)
searches = {
    "PUCT, network": ("connect4", {"algorithm": "puct"}),
    "Gumbel, network": ("connect4", {"algorithm": "gumbel"}),
    "PUCT, AlphaGo's mix": (mixed, {"algorithm": "puct", "exploration": "alphago"}),
    "UCT, playouts": ("rollout", {"algorithm": "uct"}),
    "flat UCB, playouts": ("rollout", {"algorithm": "flat_ucb"}),
}
print(f"{'search':22}{'move':>5}{'value':>8}{'nodes':>8}{'proven':>8}")
for name, (evaluator, settings) in searches.items():
    with pyengine.Engine(game, evaluator, **settings) as engine:
        result = engine.search(state, simulations=simulations)
    move = state.action_to_string(result.action)
    proven = "-" if result.proven is None else f"{result.proven:+d}"
    print(f"{name:22}{move:>5}{result.value:>+8.3f}{result.nodes:>8,}{proven:>8}")

exact = pyengine.solve(state)
move = state.action_to_string(exact.action)
print(f"{'alpha-beta':22}{move:>5}{exact.value:>+8.3f}{exact.nodes:>8,}{exact.value:>+8.0f}")
