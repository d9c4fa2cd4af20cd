"""Games so small that everything in them can be played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyengine

__all__ = ["Solved", "lines_against", "values_of"]


@dataclass(frozen=True)
class Solved:
    """A position that is not over."""

    state: pyengine.State
    value: int  #: 1, 0, -1: won, drawn, lost for the player to move
    best: frozenset[int]  #: moves that keep the value


def values_of(game: pyengine.Game) -> list[Solved]:
    """Return all positions that can be reached and are not over, each once."""
    found: dict[str, Solved] = {}
    _value(game.new_initial_state(), found)
    return list(found.values())


def _value(state: pyengine.State, found: dict[str, Solved]) -> int:
    """Return what a position, which may be over, is worth for its player to move."""
    key = f"{state.current_player()}{state}"
    if key in found:
        return found[key].value
    worth: dict[int, int] = {}
    for action in state.legal_actions():
        after = played(state, action)
        if after.is_terminal():
            points = after.returns()[state.current_player()]
            worth[action] = (points > 0) - (points < 0)
        else:
            worth[action] = -_value(after, found)
    value = max(worth.values())
    best = frozenset(action for action, points in worth.items() if points == value)
    found[key] = Solved(state, value, best)
    return value


def lines_against(
    game: pyengine.Game, choose: Callable[[list[pyengine.State]], list[int]], side: int
) -> list[float]:
    """Play a side against everything that the other one can play.

    Args:
        game: that is played.
        choose: an action for each of several states.
        side: 0 or 1, the side that ``choose`` plays.

    Returns:
        The points of that side, one for each way to play.

    """
    states, points = [game.new_initial_state()], []
    while states:
        own = [state for state in states if state.current_player() == side]
        after = [
            played(state, action)
            for state, action in zip(own, choose(own) if own else [], strict=True)
        ]
        for state in states:
            if state.current_player() != side:
                after += [played(state, action) for action in state.legal_actions()]
        points += [float(state.returns()[side]) for state in after if state.is_terminal()]
        states = [state for state in after if not state.is_terminal()]
    return points


def played(state: pyengine.State, action: int) -> pyengine.State:
    """Return the state after a move."""
    after = state.clone()
    after.apply_action(action)
    return after
