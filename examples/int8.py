"""Convert a network to int8, if it loses little by it.

Run: python int8.py NETWORK GAME OUTPUT [POSITIONS] [GAMES], for example
python int8.py net.onnx "go(board_size=9)" net-int8.onnx
"""

import sys

from pyengine import conversion

if len(sys.argv) < 4:
    sys.exit(__doc__)
network, game, output = sys.argv[1:4]
positions = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
games = int(sys.argv[5]) if len(sys.argv) > 5 else 800

report = conversion.quantise(network, output, game, positions=positions, games=games)
print(report)  # each figure with its limit
if report.path is None:
    sys.exit("The network would lose too much: nothing was written.")
print(f"{report.path}: {report.speedup:.1f} times as many positions a second")
