"""What a state shows of its board: the names of its lines, the point of an action."""

from __future__ import annotations

import re
from typing import Any

from pyengine.games.game import Game, State
from pyengine.show.board import Board, Point
from pyengine.show.look import Look, look_of

__all__ = ["board_of", "game_look", "labels", "last_point", "point_of", "state_text"]

_ADDRESS = re.compile(r"<.* object at 0x[0-9A-Fa-f]+>")  # what Python says of a class without words


def state_text(state: Any) -> str:
    """Return a state as text: of a user's class without ``__str__`` the moves, as far as known."""
    text = str(state).rstrip()
    if not _ADDRESS.fullmatch(text):
        return text
    if not hasattr(state, "history"):
        return ""
    return f"moves: {' '.join(map(str, state.history())) or 'none'}"


def board_of(state: State) -> Board:
    """Return the board of a state whose game has one."""
    rows, columns = labels(state)
    return Board(
        game=state.game.name,
        rows=state.board_rows(),
        row_names=rows,
        column_names=columns,
        last=last_point(state),
    )


def game_look(game: Game) -> Look:
    """Return the players' names and the colours of a game."""
    return look_of(game.name if game.has_board else None)


def labels(state: State) -> tuple[list[str], list[str]]:
    """Return the names of the rows and of the columns, as the moves have them."""
    height, width = state.game.board_shape
    if _drops(state):
        return [""] * height, [state.action_to_string(c) for c in range(width)]
    rows = [re.sub(r"\D", "", state.action_to_string(r * width)) for r in range(height)]
    return rows, [re.sub(r"\d", "", state.action_to_string(c)) for c in range(width)]


def point_of(state: State, action: int) -> Point | None:
    """Return row and column of the point to which an action brings a stone; None for a pass.

    In Connect Four that is the lowest empty point of a column; None for a full one.
    """
    height, width = state.game.board_shape
    if not _drops(state):
        return divmod(action, width) if action < height * width else None
    rows = state.board_rows()
    row = next((r for r in reversed(range(height)) if rows[r][action] == "."), None)
    return None if row is None else (row, action)


def last_point(state: State) -> Point | None:
    """Return row and column of the stone played last; None for a pass, and at the start."""
    history = state.history()
    if not history:
        return None
    height, width = state.game.board_shape
    action = history[-1]
    if not _drops(state):
        return divmod(action, width) if action < height * width else None
    rows = state.board_rows()
    return next(((r, action) for r in range(height) if rows[r][action] != "."), None)


def _drops(state: State) -> bool:
    """Whether an action is a column."""
    height, width = state.game.board_shape
    return height > 1 and state.game.num_distinct_actions() == width
