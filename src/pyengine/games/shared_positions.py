"""The positions of a user's game that a search of a graph takes for the same."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from pyengine.base.checks import repr_with_type
from pyengine.games.game import can_be_compared
from pyengine.games.promises import expect, legal_of, two_numbers

_MOST_KNOWN = 10_000
_ORDERS = 4  # tried for the moves of one game
_NEAR = 6  # most plies that move


def is_shared(state: Any) -> bool:
    """Return whether a search of a graph recognises the states of a game."""
    return hasattr(state, "transposition_key") or can_be_compared(state)


def other_orders(moves: list[int], rng: random.Random) -> Iterator[list[int]]:
    """Yield the moves with a few of them reversed, up to some plies later."""
    for first in rng.sample(range(len(moves)), min(_ORDERS, len(moves))):
        last = min(first + rng.randrange(2, _NEAR), len(moves))
        yield moves[:first] + moves[first:last][::-1] + moves[last : last + _NEAR]


@dataclass
class SharedPositions:
    """Compares positions that have equal keys after equally many plies."""

    known: dict[Any, tuple[Any, bytes | None]] = field(default_factory=dict)
    differing_planes: set[int] = field(default_factory=set)

    def add(self, state: Any, ply: int, planes: bytes | None, num_planes: int) -> None:
        """Compare a state with the first one of its key. `planes`: float32[num_planes, H, W]."""
        has_key = hasattr(state, "transposition_key")
        key = _key_of(state) if has_key else state.clone()
        subject = "positions with equal transposition_key()" if has_key else "states that are =="
        found = _future(state), planes
        earlier = self.known.get((ply, key), found)
        if len(self.known) < _MOST_KNOWN:
            self.known.setdefault((ply, key), found)
        expect(
            earlier[0] == found[0],
            f"{subject} must have the same future, but {earlier[0]} and {found[0]} differ, after "
            f"{ply} plies",
        )
        if planes is not None and earlier[1] is not None and planes != earlier[1]:
            pair = np.frombuffer(earlier[1] + planes, np.float32).reshape(2, num_planes, -1)
            self.differing_planes.update(np.flatnonzero((pair[0] != pair[1]).any(axis=1)).tolist())

    def warnings(self) -> Iterator[str]:
        """Yield what a search of a graph should know about the game."""
        if self.differing_planes:
            shown = ", ".join(map(str, sorted(self.differing_planes)))
            yield (
                f"positions with the same key differ in observation_tensor(), planes {shown}: with "
                "graph=True they share the evaluation of the first one"
            )


def _key_of(state: Any) -> int:
    answer = state.transposition_key()
    valid = isinstance(answer, SupportsIndex) and 0 <= operator.index(answer) < 2**128
    promise = "transposition_key() must be an int in 0..2**128 - 1, got "
    expect(valid, promise + repr_with_type(answer))
    key = operator.index(answer)
    expect(state.clone().transposition_key() == key, "clone() has another transposition_key()")
    return key


def _future(state: Any) -> dict[str, Any]:
    if state.is_terminal():
        return {"returns": two_numbers("returns", state.returns())}
    return {"player": state.current_player(), "legal actions": sorted(legal_of(state))}
