"""Othello: a third-party network and UCT."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pyengine
from measure.context import Context, Measurement, network
from measure.findings import Finding

__all__ = ["measurements"]

_GAME = "othello"
_OTHERS = "othello8x8_ludax"
_EQUAL = (100, 400)  # simulations of both sides
_SIMULATIONS = 400
_PLAYOUTS = 10_000
_PLIES = 6  # random moves per opening


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements."""
    evaluator = network(model)
    for simulations in _EQUAL:
        yield Measurement(
            f"against {_OTHERS}, {simulations} simulations each",
            partial(
                context.duel,
                _GAME,
                (evaluator, simulations),
                (_OTHERS, simulations),
                games=400,
                plies=_PLIES,
                least=0.6,
            ),
        )
    yield Measurement(
        f"{_SIMULATIONS} simulations against UCT with {_PLAYOUTS:,} playouts",
        partial(_against_uct, evaluator, context),
    )


def _against_uct(evaluator: pyengine.OnnxEvaluator, context: Context, name: str) -> Finding:
    game = pyengine.load_game(_GAME)
    with (
        closing(context.engine(game, evaluator, _SIMULATIONS)) as ours,
        closing(context.engine(game, "rollout", _PLAYOUTS, algorithm="uct")) as theirs,
    ):
        return context.play(name, ours, theirs, 200, plies=_PLIES, least=0.9)
