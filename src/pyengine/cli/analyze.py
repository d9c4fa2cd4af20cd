"""``pyengine analyze``: review a game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.text import Text
from typer import Argument, Option

from pyengine.base.files import unwritten, write_durably
from pyengine.cli.options import (
    EvaluatorOptions,
    JsonOption,
    ParamOption,
    SearchOptions,
    SeedOption,
    game_from,
    output_file,
)
from pyengine.cli.output import console, print_json, progress_bar, say
from pyengine.data.game_file import GameFile, game_in, read_game_file
from pyengine.data.sgf.record import check_in_sgf
from pyengine.errors import ConfigError, DataError
from pyengine.eval.evaluators import RolloutEvaluator
from pyengine.review.html import review_html
from pyengine.review.moves import Review
from pyengine.review.search import ReviewInterrupted, review_game
from pyengine.review.sgf import review_sgf
from pyengine.review.text import review_text
from pyengine.search.engine import Engine

_SIMULATIONS = 400  # of each position
_PLAYOUTS = 4000  # of each position, without a network
