"""Gomoku: a network of others on 8x8, and searches with playouts on 8x8 and 15x15."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measure.context import Context, Measurement, network

__all__ = ["measurements"]

_SIMULATIONS = 200
_PLAYOUTS = 5000


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield what there is to measure."""
    small, large = "gomoku(board_size=8)", "gomoku(board_size=15)"
    evaluator = network(model)
    yield Measurement(
        f"8x8 against gomoku8x8_5, {_SIMULATIONS} simulations each",
        partial(
            context.duel,
            small,
            (evaluator, _SIMULATIONS),
            ("gomoku8x8_5", _SIMULATIONS),
            games=400,
            least=0.6,
        ),
    )
    for board, game, least in (("8x8", small, 0.95), ("15x15", large, None)):
        yield Measurement(
            f"{board}, {_SIMULATIONS} simulations against {_PLAYOUTS:,} with playouts",
            partial(
                context.duel,
                game,
                (evaluator, _SIMULATIONS),
                ("rollout", _PLAYOUTS),
                games=200,
                least=least,
            ),
        )
