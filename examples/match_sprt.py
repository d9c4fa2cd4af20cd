"""Test whether a setting is stronger with an SPRT match. Run: python match_sprt.py [GAMES]"""

import argparse

import pyengine
from pyengine.match import Sprt

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("games", type=int, nargs="?", default=None)
games = parser.parse_args().games
game = pyengine.load_game("connect_four")
new = pyengine.Engine(game, "connect4", simulations=100, c_puct=2.0)
old = pyengine.Engine(game, "connect4", simulations=100)

result = pyengine.match(
    new,
    old,
    games=games,  # maximum
    seed=0,
    sprt=Sprt(elo0=0, elo1=20),  # hypotheses: 0 or 20 Elo stronger
    names=("c_puct 2.0", "c_puct 1.25"),
)
print(result)
