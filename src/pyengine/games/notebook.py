"""Pictures of states, and their display in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.errors import ConfigError
from pyengine.games.board_layout import board_of, game_look, is_pass, point_of, state_text
from pyengine.games.game import State
from pyengine.games.outcomes import outcome_text
from pyengine.show.board import Point
from pyengine.show.picture import Mark, board_html, board_svg, share_marks, text_html


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
    marks = [] if policy is None else share_marks(points_with(state, enumerate(policy)))
    return board_html(board_of(state), _turn(state), marks, point_or_none(state, best))


def board_picture(
    state: Any,
    marks: Sequence[Mark] = (),
    best: int | None = None,
    owners: Sequence[Sequence[float]] = (),
) -> str:
    """Return the SVG picture of a state's board.

    Args:
        state: a state of any game.
        marks: discs on points.
        best: the action to frame.
        owners: of the points, see :func:`~pyengine.show.picture.board_svg`.

    Raises ConfigError if the game has no board.
    """
    game = getattr(state, "game", None)
    if not getattr(game, "has_board", False):
        raise ConfigError(f"to_svg: expected a game with a board, got {game or type(state)}")
    return board_svg(board_of(state), marks, point_or_none(state, best), owners)


def state_svg(self: State) -> str:
    """Return the board as an SVG picture, with a ring on the last stone.

    Raises ConfigError if the game has no board.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("connect_four").new_initial_state([3, 3])
        >>> state.to_svg().startswith("<svg")
        True
    """
    return board_picture(self)


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


def points_with(state: State, values: Iterable[tuple[int, float]]) -> list[tuple[Point, float]]:
    """Return the points of actions with their values, without zeros and actions without a point."""
    points = ((point_of(state, action), float(value)) for action, value in values if value)
    return [(point, value) for point, value in points if point is not None]


def point_or_none(state: State, action: int | None) -> Point | None:
    """Return the point of an action, if there is one."""
    return None if action is None else point_of(state, action)


State.to_svg = state_svg  # type: ignore[method-assign]
#: Called by notebooks.
State._repr_html_ = state_html  # type: ignore[method-assign]
