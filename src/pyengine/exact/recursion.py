"""Exact values by plain recursion: :func:`minimax`."""

from __future__ import annotations

import math
import sys
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError


def minimax(state: Any) -> tuple[float, int]:
    """Return the value of a state for the player to move, and the first best move.

    Plain recursion without pruning or a table, for teaching and for testing :func:`solve`.

    Args:
        state: a non-terminal :class:`~pyengine.State` or user's state.

    Raises:
        ConfigError: a terminal state, or a game too long for Python's recursion limit.

    Example:
        >>> import pyengine
        >>> from pyengine.exact import minimax
        >>> minimax(pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4]))
        (1.0, 2)
    """
    if not hasattr(state, "is_terminal"):
        raise ConfigError(f"minimax: expected a state, got {short_repr(state)}")
    if state.is_terminal():
        raise ConfigError("minimax: expected a non-terminal state")
    try:
        return _minimax(state)
    except RecursionError as error:
        raise ConfigError(
            f"minimax: the game does not end within about {sys.getrecursionlimit() // 2} plies; "
            "apply_action() must change the state in place"
        ) from error


def _minimax(state: Any) -> tuple[float, int]:
    player = state.current_player()
    best, chosen = -math.inf, -1
    for action in sorted(state.legal_actions()):
        child = state.clone()
        child.apply_action(action)
        if child.is_terminal():
            value = float(child.returns()[player])
        else:
            value, _ = _minimax(child)
            value = value if child.current_player() == player else -value
        if value > best:
            best, chosen = value, action
    return best, chosen
