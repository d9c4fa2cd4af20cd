"""Go on 9x9: GNU Go and a third-party network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyengine
from measure.context import Context, Measurement, network
from measure.gnugo import against_gnugo

__all__ = ["measurements"]

_GAME = "go(board_size=9,komi=7)"
_SIMULATIONS = 400
_FEW_SIMULATIONS = 200
_LEVEL = 10
_PLIES = 4  # random moves per opening


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements."""
    evaluator = network(model)
    for simulations, games, least in ((_SIMULATIONS, 200, 0.8), (_FEW_SIMULATIONS, 40, None)):
        yield Measurement(
            f"against GNU Go at level {_LEVEL}, {simulations} simulations of ours",
            partial(
                against_gnugo,
                context,
                pyengine.load_game(_GAME),
                (evaluator, simulations),
                _LEVEL,
                games=games,
                plies=_PLIES,
                least=least,
            ),
        )
    yield Measurement(
        f"against go9x9_pyaq, {_SIMULATIONS} simulations each",
        partial(
            context.duel,
            _GAME,
            (evaluator, _SIMULATIONS),
            ("go9x9_pyaq", _SIMULATIONS),
            games=400,
            plies=_PLIES,
            least=0.55,
        ),
    )
