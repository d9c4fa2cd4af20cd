"""Get the same result with any number of threads. Run: python deterministic.py [SIMULATIONS]"""

import argparse

import pyengine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("simulations", type=int, nargs="?", default=2000)
simulations = parser.parse_args().simulations
game = pyengine.load_game("connect_four")
state = game.new_initial_state([3, 3, 2])

visits = {}
for threads in (1, 2, 4):
    with pyengine.Engine(
        game, "connect4", threads=threads, deterministic=True, seed=7, solver=False
    ) as engine:
        visits[threads] = engine.search(state, simulations=simulations).visits.tolist()
    print(f"{threads} threads: {visits[threads]}")
assert visits[1] == visits[2] == visits[4]
