"""Training data: self-play writes it, learners read it."""

from pyengine.data.dataset import Dataset
from pyengine.data.export import convert, export_sgf
from pyengine.data.layout import (
    CUT_SHORT,
    FULL_SEARCH,
    RESIGNATION_OFF,
    RESIGNED,
    VALUE_ALONE,
    Layout,
)
from pyengine.data.manifest import Manifest, ShardInfo
from pyengine.data.record import FinishedGame, GameSink
from pyengine.data.sgf_read import SgfReport, import_sgf
from pyengine.data.writer import ShardWriter

__all__ = [
    "CUT_SHORT",
    "FULL_SEARCH",
    "RESIGNATION_OFF",
    "RESIGNED",
    "VALUE_ALONE",
    "Dataset",
    "FinishedGame",
    "GameSink",
    "Layout",
    "Manifest",
    "SgfReport",
    "ShardInfo",
    "ShardWriter",
    "convert",
    "export_sgf",
    "import_sgf",
]
