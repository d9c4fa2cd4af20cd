"""Watch the result of a search develop. Run: python watch_analysis.py [SIMULATIONS]"""

import argparse

import pyengine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("simulations", type=int, nargs="?", default=20_000)
simulations = parser.parse_args().simulations
game = pyengine.load_game("gomoku", board_size=9)
state = game.new_initial_state()
for move in ("E5", "E8", "D5", "D8", "F4", "B5", "C5", "F8", "F3", "D4", "G7", "C3"):
    state.apply_action(state.string_to_action(move))
print(state)

engine = pyengine.Engine(game, "gomoku")
for result in engine.analyze(state, every=0.1, simulations=simulations):  # break stops the search
    position, line = state.clone(), []
    for action in result.pv[:6]:
        line.append(position.action_to_string(action))
        position.apply_action(action)
    print(f"{result.simulations:7,} simulations, value {result.value:+.3f}, line {' '.join(line)}")
    if result.proven is not None:
        print("proven:", {1: "a win", 0: "a draw", -1: "a loss"}[result.proven])
