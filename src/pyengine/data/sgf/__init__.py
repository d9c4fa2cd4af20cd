"""Game records of Go and Gomoku in SGF."""

from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.read import read_sgf
from pyengine.data.sgf.record import Replay, SgfGame
from pyengine.data.sgf.values import Result

__all__ = ["Replay", "Result", "SgfError", "SgfGame", "read_sgf"]
