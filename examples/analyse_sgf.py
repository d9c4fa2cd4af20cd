"""Find the mistakes of a Go game on 7x7 (SGF). Run: python analyse_sgf.py [FILE] [SIMULATIONS]"""

import argparse
from pathlib import Path

from sgfmill import sgf

import pyengine

SAMPLE = b"(;GM[1]FF[4]SZ[7]KM[9.5];B[dd];W[ed];B[ec];W[ee];B[fd];W[aa];B[dc];W[de];B[ce])"
MISTAKE = 0.3  # of the value, which is between -1 and 1

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", type=Path, nargs="?", help="default: the game in this program")
parser.add_argument("simulations", type=int, nargs="?", default=200)
given = parser.parse_args()
data = SAMPLE if given.file is None else given.file.read_bytes()

record = sgf.Sgf_game.from_bytes(data)
game = pyengine.load_game("go", board_size=record.get_size(), komi=record.get_komi())
state = game.new_initial_state()
states, played = [], []
for node in record.get_main_sequence()[1:]:
    _, point = node.get_move()  # (row, column) from the bottom, or None for a pass
    size = record.get_size()
    action = size * size if point is None else (size - 1 - point[0]) * size + point[1]
    states.append(state.clone())
    played.append(action)
    state.apply_action(action)

# All positions are searched together and share the batches of the network.
engine = pyengine.Engine(game, "go7")
results = engine.search_many(states, simulations=given.simulations)
for before, action, result, after in zip(states, played, results, results[1:], strict=False):
    lost = result.value + after.value  # the next value is the opponent's
    name, best = before.action_to_string(action), before.action_to_string(result.action)
    mark = f"  mistake: {best} was better by {lost:.2f}" if lost > MISTAKE else ""
    print(f"{len(before.history()) + 1:3}. {name:5} {result.value:+.2f}{mark}")
