"""Exhaustive play of small games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyengine

__all__ = ["Solved", "lines_against", "values_of"]


@dataclass(frozen=True)
class Solved:
    """A solved position that is not terminal."""

    state: pyengine.State
    value: int  #: 1 won, 0 drawn, -1 lost for the player to move
    best: frozenset[int]  #: moves that keep the value


def values_of(game: pyengine.Game) -> list[Solved]:
    """Return all reachable positions that are not terminal."""
    solved: dict[str, Solved] = {}
    _value(game.new_initial_state(), solved)
    return list(solved.values())


def _value(state: pyengine.State, solved: dict[str, Solved]) -> int:
    key = f"{state.current_player()}{state}"
    if key in solved:
        return solved[key].value
    worth: dict[int, int] = {}
    for action in state.legal_actions():
        after = played(state, action)
        if after.is_terminal():
            points = after.returns()[state.current_player()]
            worth[action] = (points > 0) - (points < 0)
        else:
            worth[action] = -_value(after, solved)
    value = max(worth.values())
    best = frozenset(action for action, points in worth.items() if points == value)
    solved[key] = Solved(state, value, best)
    return value


def lines_against(
    game: pyengine.Game, choose: Callable[[list[pyengine.State]], list[int]], side: int
) -> list[float]:
    """Play one side against all replies of the other.

    Args:
        game: the game.
        choose: returns an action per state.
        side: the side that ``choose`` plays, 0 or 1.

    Returns:
        The points of that side, one number per line of play.

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
