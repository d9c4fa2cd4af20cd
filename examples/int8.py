"""Convert a network to int8, if it loses little by it.

Run: python int8.py NETWORK GAME OUTPUT [POSITIONS] [GAMES], for example
python int8.py net.onnx "go(board_size=9)" net-int8.onnx
"""

import argparse
import sys

from pyengine import conversion

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("network", help="an ONNX file")
parser.add_argument("game", help='such as "go(board_size=9)"')
parser.add_argument("output", help="the file to write")
parser.add_argument("positions", type=int, nargs="?", default=1000)
parser.add_argument("games", type=int, nargs="?", default=800)
given = parser.parse_args()

report = conversion.quantise(
    given.network, given.output, given.game, positions=given.positions, games=given.games
)
print(report)  # each figure with its limit
if report.path is None:
    sys.exit("The network would lose too much: nothing was written.")
print(f"{report.path}: {report.speedup:.1f} times as many positions a second")
