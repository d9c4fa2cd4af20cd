"""Positions of the built-in games: random ones, children, and the value of a move."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyengine


def random_state(game: pyengine.Game, plies: int, rng: random.Random) -> pyengine.State:
    """Return a non-terminal state after random moves."""
    while True:
        state = game.new_initial_state()
        while not state.is_terminal() and len(state.history()) < plies:
            state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            return state


def children(state: pyengine.State) -> list[pyengine.State]:
    """Return the states after each legal action."""
    after = []
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        after.append(child)
    return after


def value_after(state: Any, action: int, value: Callable[[Any], float]) -> float:
    """Return the value after a move for its player; ``value`` is for the player to move."""
    child, player = state.clone(), state.current_player()
    child.apply_action(action)
    if child.is_terminal():
        return float(child.returns()[player])
    return value(child) if child.current_player() == player else -value(child)
