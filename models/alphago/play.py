"""Games that policies play without a search, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import pyengine

__all__ = ["PolicyPlayer", "drawn", "play_out"]

Floats = npt.NDArray[np.float32]
#: States to a probability for each action.
Policy = Callable[[Sequence[pyengine.State]], Floats]


def drawn(policy: Floats, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an action of each row [N,A] of probabilities."""
    sums = np.cumsum(policy, axis=1, dtype=np.float64)
    limits = rng.random(len(policy)) * sums[:, -1]
    return np.argmax(sums > limits[:, None], axis=1)


def play_out(states: Sequence[pyengine.State], policy: Policy, rng: np.random.Generator) -> None:
    """Play states to their ends."""
    live = [state for state in states if not state.is_terminal()]
    while live:
        for state, action in zip(live, drawn(policy(live), rng), strict=True):
            state.apply_action(int(action))
        live = [state for state in live if not state.is_terminal()]


@dataclass(frozen=True)
class _Choice:
    action: int


class PolicyPlayer:
    """Plays the most likely move of an evaluator's policy, without a search.

    Args:
        game: that it plays.
        evaluator: a network.
        name: that tells it from others in a match's record.

    """

    def __init__(self, game: pyengine.Game, evaluator: pyengine.Evaluator, name: str) -> None:
        """Keep them."""
        self._evaluator = evaluator
        self.game, self.identity = game, name

    def search_many(self, states: Sequence[Any]) -> list[_Choice]:
        """Return the choice in each state."""
        policy, _ = self._evaluator.evaluate(list(states))
        return [_Choice(int(action)) for action in policy.argmax(axis=1)]
