"""Gomoku: a third-party network on 8x8, the first bundled one on 15x15, playouts up to 20x20."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pyengine
from measure.context import Context, Measurement, network
from measure.findings import Finding
from measure.history import bundled_at

__all__ = ["measurements"]

_SIMULATIONS = 200
_PLAYOUTS = 5000
_GAMES = 400  # number of games against networks
#: On 20x20, larger than any board in training.
_LARGEST_SIMULATIONS, _LARGEST_PLAYOUTS, _LARGEST_GAMES = 50, 2000, 40
#: Commit and SHA-256 of the first network for several board sizes.
_FIRST = ("040f65c", "f4786ec4955455163ce1fef65397476d4a9a90b9fc5b1e042e7b357691d76ce9")


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements."""
    small, large = "gomoku(board_size=8)", "gomoku(board_size=15)"
    evaluator = network(model)
    yield Measurement(
        f"8x8 against gomoku8x8_5, {_SIMULATIONS} simulations each",
        partial(
            context.duel,
            small,
            (evaluator, _SIMULATIONS),
            ("gomoku8x8_5", _SIMULATIONS),
            games=_GAMES,
            least=0.92,
        ),
    )
    yield Measurement(
        f"15x15 against the first network, {_SIMULATIONS} simulations each",
        partial(_against_first, context, large, evaluator),
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
    yield Measurement(
        f"20x20, {_LARGEST_SIMULATIONS} simulations against UCT with "
        f"{_LARGEST_PLAYOUTS:,} playouts",
        partial(_against_uct, context, "gomoku(board_size=20)", evaluator),
    )


def _against_first(
    context: Context, game: str, evaluator: pyengine.OnnxEvaluator, name: str
) -> Finding:
    commit, sha256 = _FIRST
    first = network(bundled_at(commit, "gomoku", sha256, context))
    return context.duel(
        game, (evaluator, _SIMULATIONS), (first, _SIMULATIONS), name, games=_GAMES, least=0.6
    )


def _against_uct(
    context: Context, game: str, evaluator: pyengine.OnnxEvaluator, name: str
) -> Finding:
    loaded = pyengine.load_game(game)
    with (
        closing(context.engine(loaded, evaluator, _LARGEST_SIMULATIONS)) as a,
        closing(context.engine(loaded, "rollout", _LARGEST_PLAYOUTS, algorithm="uct")) as b,
    ):
        return context.play(name, a, b, _LARGEST_GAMES)
