"""Tic-tac-toe: all replies of an opponent, and all positions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

import pyengine
from measure.context import Context, Measurement, network
from measure.findings import Finding, share
from measure.solving import lines_against, values_of

__all__ = ["measurements"]

_GAME = "tic_tac_toe"
_SIMULATIONS = 50


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements."""
    evaluator = network(model)
    yield Measurement(
        f"games lost to all replies, {_SIMULATIONS} simulations",
        partial(_lost, evaluator, context),
    )
    yield Measurement("positions in which the policy alone is right", partial(_right, evaluator))


def _lost(evaluator: pyengine.OnnxEvaluator, context: Context, name: str) -> Finding:
    """Play both sides against all replies."""
    game = pyengine.load_game(_GAME)
    with closing(context.engine(game, evaluator, _SIMULATIONS)) as engine:

        def choose(states: list[pyengine.State]) -> list[int]:
            return [int(result.action) for result in engine.search_many(states)]

        points = [point for side in (0, 1) for point in lines_against(game, choose, side)]
    return share(name, [point < 0 for point in points], complete=True, most=0.0)


def _right(evaluator: pyengine.OnnxEvaluator, name: str) -> Finding:
    """Count the reachable positions whose most likely move keeps the value."""
    solved = values_of(pyengine.load_game(_GAME))
    states = [position.state for position in solved]
    policy, _ = evaluator.evaluate(states)
    moves = np.argmax(policy, axis=1)
    right = [int(move) in position.best for position, move in zip(solved, moves, strict=True)]
    return share(name, right, complete=True, least=0.99)
