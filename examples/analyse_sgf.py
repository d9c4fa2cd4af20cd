"""Find the mistakes of a Go game (SGF). Run: python analyse_sgf.py [FILE] [SIMULATIONS]"""

import argparse
from pathlib import Path

import pyengine
from pyengine.data.sgf import read_sgf

SAMPLE = b"(;GM[1]FF[4]SZ[7]KM[9.5];B[dd];W[ed];B[ec];W[ee];B[fd];W[aa];B[dc];W[de];B[ce])"
NETWORKS = {(7, 7): "go7", (9, 9): "go9"}  # bundled networks by board size
MISTAKE = 0.3  # loss of value, which is between -1 and 1

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", type=Path, nargs="?", help="default: a built-in game")
parser.add_argument("simulations", type=int, nargs="?", default=200)
options = parser.parse_args()

# The file determines board, komi, rules and handicap; the notes list anything unusual.
try:
    record = read_sgf(SAMPLE if options.file is None else options.file)
    game = record.game()
    replay = record.replay(game)
except pyengine.EngineError as error:
    parser.error(str(error))
print(game, *(f"{name}: {what}" for name, what in replay.notes.items()), sep="\n")

# All positions are searched together and share the network's batches. Without a network for the
# board, they are evaluated by random playouts, which are much weaker.
positions = [*replay.states] if replay.end.is_terminal() else [*replay.states, replay.end]
engine = pyengine.Engine(game, NETWORKS.get(record.board, "rollout"))
results = engine.search_many(positions, simulations=options.simulations)
values = [result.value for result in results]
if replay.end.is_terminal():
    values.append(replay.end.returns()[1 - replay.states[-1].current_player()])
for number, (before, action) in enumerate(zip(replay.states, replay.actions, strict=True)):
    result = results[number]
    lost = values[number] + values[number + 1]  # the next value is the opponent's
    name, best = before.action_to_string(action), before.action_to_string(result.action)
    mark = f"  mistake: {best} was better by {lost:.2f}" if lost > MISTAKE else ""
    print(f"{number + 1:3}. {name:5} {result.value:+.2f}{mark}")
