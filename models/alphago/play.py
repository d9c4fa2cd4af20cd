"""Games that policies play without a search, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """Draws its moves from an evaluator's policy, without a search, as AlphaGo's policy networks
    were measured [Silver et al. 2016, "Policy network: reinforcement learning"].

    Args:
        game: that it plays.
        evaluator: a network.
        name: that tells it from others in a match's record.
        seed: of the draws. A position with the same moves before it always gets the same move.

    """

    def __init__(
        self, game: pyengine.Game, evaluator: pyengine.Evaluator, name: str, seed: int
    ) -> None:
        """Keep them."""
        self._evaluator, self._seed = evaluator, seed
        self.game, self.identity = game, f"{name}, drawn, seed {seed}"

    def search_many(self, states: Sequence[pyengine.State]) -> list[_Choice]:
        """Return the choice in each state."""
        policy, _ = self._evaluator.evaluate(list(states))
        return [
            _Choice(int(drawn(row[None], self._rng(state))[0]))
            for row, state in zip(policy, states, strict=True)
        ]

    def _rng(self, state: pyengine.State) -> np.random.Generator:
        return np.random.default_rng((self._seed, 30, *state.history()))
