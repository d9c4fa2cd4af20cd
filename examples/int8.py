"""Convert a network to int8 if it loses little strength.

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
options = parser.parse_args()

report = conversion.quantise(
    options.network, options.output, options.game, positions=options.positions, games=options.games
)
print(report)  # the measurements with their limits
if report.path is None:
    sys.exit("The network would lose too much: nothing was written.")
print(f"{report.path}: {report.speedup:.1f} times the positions per second")
