"""The opening rule Swap2: three stones, and the choice of a colour."""

from __future__ import annotations

import random

from pyengine.games.game import State
from pyengine.protocols.session import Session

_OPENINGS = 32  # compared
_SIMULATIONS = 64  # for each
_SECONDS = 2.0  # at most, for all
_SPREAD = (4, 7)  # sides of the square that holds the stones


def balanced_opening(session: Session, seconds: float | None) -> list[int]:
    """Return three moves, black, white, black, after which the colours are worth the same.

    The most balanced of some random openings by the values of short searches.

    Args:
        session: a game whose board is empty.
        seconds: limit of the time, if any.

    """
    rng = random.Random(session.engine.config.seed)
    openings = [_random_opening(session.start, rng) for _ in range(_OPENINGS)]
    results = session.engine.search_many(
        [state for state, _ in openings],
        simulations=_SIMULATIONS,
        seconds=min(_SECONDS, seconds or _SECONDS),
    )
    values = [abs(result.value) for result in results]
    return openings[values.index(min(values))][1]


def _random_opening(start: State, rng: random.Random) -> tuple[State, list[int]]:
    """Return a position after three moves within a small square anywhere on the board."""
    size, _ = start.game.board_shape
    side = min(rng.randint(*_SPREAD), size)
    top, left = rng.randint(0, size - side), rng.randint(0, size - side)
    points = rng.sample(range(side * side), 3)
    actions = [(top + point // side) * size + left + point % side for point in points]
    state = start.clone()
    for action in actions:
        state.apply_action(action)
    return state, actions


def prefers_black(value: float) -> bool:
    """Return whether to swap and take black, given the value for white, who is to move.

    Two more stones are never placed: the opponent would then take the better colour, so that
    the better colour of this position is worth more.
    """
    return value < 0
