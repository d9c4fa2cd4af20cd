"""Board geometry of a state: row and column names, the point of an action."""

from __future__ import annotations

import re
from typing import Any

from pyengine.games.game import Game, State
from pyengine.show.board import Board, Look, Point, look_of

_ADDRESS = re.compile(r"<.* object at 0x[0-9A-Fa-f]+>")  # the default repr


def state_text(state: Any) -> str:
    """Return a state as text; without ``__str__``, its moves if it has a history."""
    text = str(state).rstrip()
    if not _ADDRESS.fullmatch(text):
        return text
    if not hasattr(state, "history"):
        return ""
    return f"moves: {' '.join(map(str, state.history())) or 'none'}"


def board_of(state: State) -> Board:
    """Return the board of a state."""
    rows, columns = labels(state)
    return Board(
        game=state.game.name,
        rows=state.board_rows(),
        row_names=rows,
        column_names=columns,
        last=last_point(state),
    )


def game_look(game: Game) -> Look:
    """Return a game's player names and colours."""
    return look_of(game.name if game.has_board else None)


def labels(state: State) -> tuple[list[str], list[str]]:
    """Return the row and column names used in moves."""
    height, width = state.game.board_shape
    if _drops(state):
        return [""] * height, [state.action_to_string(c) for c in range(width)]
    rows = [re.sub(r"\D", "", state.action_to_string(r * width)) for r in range(height)]
    return rows, [re.sub(r"\d", "", state.action_to_string(c)) for c in range(width)]


def point_of(state: State, action: int) -> Point | None:
    """Return the row and column where an action places a stone; None for a pass.

    In Connect Four this is the lowest empty point of the column; None if the column is full.
    """
    height, width = state.game.board_shape
    if not _drops(state):
        return divmod(action, width) if action < height * width else None
    rows = state.board_rows()
    row = next((r for r in reversed(range(height)) if rows[r][action] == "."), None)
    return None if row is None else (row, action)


def last_point(state: State) -> Point | None:
    """Return the row and column of the last stone; None after a pass or at the start."""
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
