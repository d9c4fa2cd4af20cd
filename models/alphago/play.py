"""Games between policies without search, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import pyengine
from pyengine.eval import Evaluator

__all__ = ["PolicyPlayer", "drawn", "play_out"]

Floats = npt.NDArray[np.float32]
#: Returns action probabilities [N,A] of states.
Policy = Callable[[Sequence[pyengine.State]], Floats]


def drawn(policy: Floats, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an action from each row of probabilities [N,A]."""
    sums = np.cumsum(policy, axis=1, dtype=np.float64)
    limits = rng.random(len(policy)) * sums[:, -1]
    return np.argmax(sums > limits[:, None], axis=1)


def play_out(states: Sequence[pyengine.State], policy: Policy, rng: np.random.Generator) -> None:
    """Play games to the end, in place."""
    live = [state for state in states if not state.is_terminal()]
    while live:
        for state, action in zip(live, drawn(policy(live), rng), strict=True):
            state.apply_action(int(action))
        live = [state for state in live if not state.is_terminal()]


@dataclass(frozen=True)
class _Choice:
    action: int


class PolicyPlayer:
    """A player that draws moves from an evaluator's policy, without search.

    AlphaGo's policy networks were measured this way [Silver et al. 2016, "Policy network:
    reinforcement learning"]. The same sequence of moves always gets the same reply.

    Args:
        game: the game.
        evaluator: the network.
        name: identity in match records.
        seed: seed of the draws.

    """

    def __init__(self, game: pyengine.Game, evaluator: Evaluator, name: str, seed: int) -> None:
        self._evaluator, self._seed = evaluator, seed
        self.game, self.identity = game, f"{name}, drawn, seed {seed}"

    def search_many(self, states: Sequence[pyengine.State]) -> list[_Choice]:
        """Return a choice per state."""
        policy, _ = self._evaluator.evaluate(list(states))
        return [
            _Choice(int(drawn(row[None], self._rng(state))[0]))
            for row, state in zip(policy, states, strict=True)
        ]

    def _rng(self, state: pyengine.State) -> np.random.Generator:
        return np.random.default_rng((self._seed, 30, *state.history()))
