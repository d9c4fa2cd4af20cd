"""Display of states in notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.games.board_layout import board_of, game_look, is_pass, point_of, state_text
from pyengine.games.game import State
from pyengine.games.outcomes import outcome_text
from pyengine.show.picture import board_html, text_html


def state_picture(
    state: Any, policy: npt.NDArray[np.float32] | None = None, best: int | None = None
) -> str:
    """Return an HTML picture of a board and the player to move; "" if the state has no board.

    Args:
        state: a state of any game.
        policy: float32 [A], the share of each action.
        best: the action to highlight.

    """
    if not getattr(getattr(state, "game", None), "has_board", False):
        return ""
    return board_html(board_of(state), _turn(state), _shares(state, policy), _framed(state, best))


def state_html(state: State) -> str:
    """Return a state as HTML: its board and the player to move, or text if it has no board."""
    return state_picture(state) or text_html(state_text(state))


def _turn(state: State) -> str:
    """Say who is to move, or how the game ended."""
    names = game_look(state.game).names
    passed = any(is_pass(state, action) for action in state.history()[-1:])
    turn = outcome_text(state, names.__getitem__, None)
    turn = turn or f"{names[state.current_player()]} to move"
    return f"{turn}, after a pass" if passed else turn


def _shares(
    state: State, policy: npt.NDArray[np.float32] | None
) -> list[tuple[tuple[int, int], float]]:
    if policy is None:
        return []
    points = (
        (point_of(state, int(action)), float(policy[action])) for action in np.flatnonzero(policy)
    )
    return [(point, share) for point, share in points if point is not None]


def _framed(state: State, best: int | None) -> tuple[int, int] | None:
    return None if best is None else point_of(state, best)


#: Called by notebooks.
State._repr_html_ = state_html  # type: ignore[method-assign]
