"""Game records of Go and Gomoku in SGF, as programs and servers write them."""

from pyengine.sgf.collection import SgfError
from pyengine.sgf.read import read_sgf
from pyengine.sgf.record import Replay, SgfGame
from pyengine.sgf.result import Result

__all__ = ["Replay", "Result", "SgfError", "SgfGame", "read_sgf"]
