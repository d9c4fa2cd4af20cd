"""Evaluate many positions at once. Run: python search_many.py [POSITIONS] [SIMULATIONS]"""

import argparse
import random

import pyengine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("positions", type=int, nargs="?", default=500)
parser.add_argument("simulations", type=int, nargs="?", default=100)
options = parser.parse_args()

game = pyengine.load_game("gomoku", board_size=9)
rng = random.Random(0)
states = []
while len(states) < options.positions:
    state = game.new_initial_state()
    for _ in range(rng.randint(4, 20)):
        if not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
    if not state.is_terminal():
        states.append(state)

with pyengine.Engine(game, "gomoku", batch_size=64) as engine:
    results = engine.search_many(states, simulations=options.simulations)  # one queue of batches
    for state, result in list(zip(states, results, strict=True))[:5]:
        print(state)
        print(f"best {result.action_name(result.action)}, value {result.value:+.2f}\n")
    stats = engine.stats()
    proven = sum(result.proven is not None for result in results)
    print(
        f"{stats['evaluations']} rows, {stats['mean_batch_fill']:.1f} in a batch, {proven} proven"
    )
