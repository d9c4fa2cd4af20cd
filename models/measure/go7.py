"""Go on 7x7: searches with playouts, and GNU Go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyengine
from measure.context import ROOT, Context, Measurement, network
from measure.gnugo import against_gnugo
from pyengine.train import RunFile

__all__ = ["measurements"]

_SIMULATIONS = 200
_PLAYOUTS = 2000
_LEVEL = 10
_GNUGO_GAMES = 100  # GNU Go takes 0.1 s per move
_PLIES = 2  # random moves per opening; more would decide a game on this small board


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements in the game of the run file."""
    game = RunFile.from_toml(ROOT / "models" / "runs" / "go7.toml").game.name[0]
    evaluator = network(model)
    yield Measurement(
        f"{_SIMULATIONS} simulations against {_PLAYOUTS:,} with playouts",
        partial(
            context.duel,
            game,
            (evaluator, _SIMULATIONS),
            ("rollout", _PLAYOUTS),
            games=200,
            plies=_PLIES,
            least=0.8,
        ),
    )
    yield Measurement(
        f"against GNU Go at level {_LEVEL}, {_SIMULATIONS} simulations of ours",
        partial(
            against_gnugo,
            context,
            pyengine.load_game(game),
            (evaluator, _SIMULATIONS),
            _LEVEL,
            games=_GNUGO_GAMES,
            plies=_PLIES,
        ),
    )
