"""Small random games in which many paths lead to each position, and their minimax values."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import pyengine


@dataclass(frozen=True, kw_only=True)
class Position:
    """A position, ``to`` which its moves lead (none: the game is over), worth ``value``."""

    player: int
    to: tuple[int, ...]
    value: float


class RandomGame:
    """Moves lead from position to position, back to earlier ones and several to the same one.

    Players may move twice in a row. The game ends at positions without moves, and after
    ``limit`` plies: up to 660 pairs of position and ply lie before the end. Values are for the
    first player: -1, 0, 1, and in some games also a fraction.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.most_moves = rng.randint(2, 5)
        self.limit = rng.randint(3, 12)
        values = (-1.0, 0.0, 1.0, 0.25) if rng.random() < 0.2 else (-1.0, 0.0, 1.0)
        twice, over = rng.choice([0.0, 0.2, 0.5]), rng.choice([0.02, 0.1, 0.3])
        size = rng.choice([5, 15, 60])
        self.positions = [
            Position(
                player=(i + (rng.random() < twice)) % 2,
                to=self._moves(rng, i, size) if i == 0 or rng.random() >= over else (),
                value=rng.choice(values),
            )
            for i in range(size)
        ]

    def _moves(self, rng: random.Random, position: int, size: int) -> tuple[int, ...]:
        """Return moves of which most change the parity, as the player who moves usually changes."""
        moves = [rng.randrange(size) for _ in range(rng.randint(1, self.most_moves))]
        return tuple(move ^ 1 if (move - position) % 2 == 0 and move ^ 1 < size else move
                     for move in moves)  # fmt: skip

    def num_distinct_actions(self) -> int:
        return self.most_moves

    def new_initial_state(self) -> RandomState:
        return RandomState(self, 0)

    @cached_property
    def minimax(self) -> list[list[float]]:
        """Return the values for the first player, by plies played and position."""
        values = [[p.value for p in self.positions]]
        for _ in range(self.limit):
            values.append([self._best(p, values[-1]) for p in self.positions])
        return values[::-1]

    @staticmethod
    def _best(position: Position, after: list[float]) -> float:
        if not position.to:
            return position.value
        return (max, min)[position.player](after[to] for to in position.to)


class RandomState:
    """A position of a random game. Its key leaves out the ply, which the search adds."""

    def __init__(self, game: RandomGame, position: int, moves: tuple[int, ...] = ()) -> None:
        self.game = game
        self.position = position
        self.moves = moves

    def transposition_key(self) -> int:
        return self.position

    @property
    def minimax(self) -> float:
        """The value for the first player."""
        return self.game.minimax[len(self.moves)][self.position]

    def history(self) -> list[int]:
        return list(self.moves)

    def clone(self) -> RandomState:
        return RandomState(self.game, self.position, self.moves)

    def current_player(self) -> int:
        return self.game.positions[self.position].player

    def legal_actions(self) -> list[int]:
        return list(range(len(self.game.positions[self.position].to)))

    def apply_action(self, action: int) -> None:
        self.position = self.game.positions[self.position].to[action]
        self.moves = (*self.moves, action)

    def is_terminal(self) -> bool:
        return len(self.moves) == self.game.limit or not self.legal_actions()

    def returns(self) -> list[float]:
        value = self.game.positions[self.position].value
        return [value, -value]


def blurred(game: RandomGame, seed: int) -> pyengine.StateEvaluator:
    """Return an evaluator that knows half of the minimax value; the rest is noise."""
    noise = np.random.default_rng(seed).normal(0, 0.4, (game.limit, len(game.positions)))

    def evaluate(states: list[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        value = [0.5 * s.minimax + noise[len(s.moves), s.position] for s in states]
        signs = [1 - 2 * s.current_player() for s in states]
        return np.ones((len(states), game.most_moves)), np.clip(value, -1, 1) * signs

    return pyengine.StateEvaluator(evaluate)
