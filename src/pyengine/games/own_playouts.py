"""Playouts by a method of a user's game, checked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyengine._core import PlayoutRandom
from pyengine.games.promises import check_returns, expect, two_numbers

_PLAYOUTS = 8  # of each position


@dataclass
class OwnPlayouts:
    """Checks ``play_out()``; the values are returns of the first player."""

    most: float  #: max_utility
    mean: float = 0.0  #: of the playouts of the last position
    ends: list[tuple[float, float]] = field(default_factory=list)  #: last mean and return of a game

    def check(self, state: Any, seed: int) -> None:
        returns = [self.returns_of(state, seed + i) for i in range(_PLAYOUTS)]
        again = self.returns_of(state, seed)
        expect(
            again == returns[0],
            "play_out(rng) must take its random numbers from rng: equal ones led to "
            f"{returns[0]} and {again}",
        )
        self.mean = sum(first for first, _ in returns) / _PLAYOUTS

    def returns_of(self, state: Any, seed: int) -> list[float]:
        returns = two_numbers("play_out", state.play_out(PlayoutRandom(seed)))
        check_returns("play_out", returns, self.most)
        return returns

    def end(self, first: float) -> None:
        """Store the return of a random game, whose last position was checked last."""
        self.ends.append((self.mean, first))

    def warnings(self) -> Iterator[str]:
        """Yield a warning if playouts end like random games with the players exchanged."""
        products = [mean * first for mean, first in self.ends]
        if sum(products) < -2.0 * math.sqrt(sum(product**2 for product in products)):
            yield (
                "play_out() favours the losers of random games: it must return [r0, r1] of players "
                "0 and 1, not of the player to move"
            )
