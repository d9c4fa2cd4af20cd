"""Counts of move sequences, to test the rules of a game."""

from __future__ import annotations

from typing import Any

from pyengine import _core
from pyengine.games.game import State, game_for


def perft(state: Any, depth: int, *, count_finished: bool = True, game: Any = None) -> int:
    """Count the move sequences of ``depth`` plies from a state.

    Args:
        state: a State, or a state of a user's game; it is not changed.
        depth: in plies.
        count_finished: whether a game that ends earlier counts as one sequence.
        game: the game of ``state``; None = the state's own. A user's state that does not know its
            game requires it.

    Raises:
        ConfigError: the game of the state is unknown.

    Example:
        >>> import pyengine
        >>> pyengine.perft(pyengine.load_game("tic_tac_toe").new_initial_state(), 9)
        255168
    """
    if not isinstance(state, State):
        game = game_for(state, game, "perft")
    return _core.perft(state, depth, count_finished=count_finished, game=game)
