"""Othello: a network of others, for information."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measure.context import Context, Measurement, network

__all__ = ["measurements"]

_SIMULATIONS = 100
_PLAYOUTS = 1000


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield what there is to measure."""
    ours = (network(model), _SIMULATIONS)
    for name, opponent in (
        (f"against othello8x8_ludax, {_SIMULATIONS} simulations each", "othello8x8_ludax"),
        (f"{_SIMULATIONS} simulations against {_PLAYOUTS:,} with playouts", "rollout"),
    ):
        theirs = (opponent, _PLAYOUTS if opponent == "rollout" else _SIMULATIONS)
        yield Measurement(name, partial(context.duel, "othello", ours, theirs, games=400, plies=6))
