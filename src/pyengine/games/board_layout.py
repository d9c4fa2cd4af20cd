"""Board geometry of a state: row and column names, the point of an action."""

from __future__ import annotations

import re
from typing import Any

from pyengine.games.game import Game, State
from pyengine.show.board import Board, Look, Point, look_of

_POINT = re.compile(r"([A-Za-z]+)(\d+)")  # at the start of a move's name
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
    """Return the row and column names used in moves; empty ones if no move has such a name."""
    height, width = state.game.board_shape
    if drops(state.game):
        return [""] * height, [state.action_to_string(c) for c in range(width)]
    rows = [re.sub(r"\D", "", _point_name(state, r * width)) for r in range(height)]
    return rows, [re.sub(r"\d", "", _point_name(state, c)) for c in range(width)]


def _point_name(state: State, point: int) -> str:
    """Return the name of a point, with which the names of its moves begin."""
    if plays_points(state.game):
        return state.action_to_string(point)
    height, width = state.game.board_shape
    per_point = state.game.num_distinct_actions() // (height * width)
    moves = range(point * per_point, (point + 1) * per_point)
    names = filter(None, (_POINT.match(state.action_to_string(move)) for move in moves))
    return next((name[0] for name in names), "")


def point_of(state: State, action: int) -> Point | None:
    """Return the row and column where an action places a stone; None if it does not.

    In Connect Four this is the lowest empty point of the column; None if the column is full.
    """
    height, width = state.game.board_shape
    if plays_points(state.game):
        return divmod(action, width) if action < height * width else None
    if not drops(state.game):
        return None
    rows = state.board_rows()
    row = next((r for r in reversed(range(height)) if rows[r][action] == "."), None)
    return None if row is None else (row, action)


def last_point(state: State) -> Point | None:
    """Return the row and column of the last stone placed; None if the last move placed none."""
    history = state.history()
    if not history:
        return None
    action = history[-1]
    if not drops(state.game):
        return point_of(state, action)
    rows = state.board_rows()
    return next(((r, action) for r in range(len(rows)) if rows[r][action] != "."), None)


def drops(game: Game) -> bool:
    """Return whether an action is a column."""
    height, width = game.board_shape
    return height > 1 and game.num_distinct_actions() == width


def is_pass(state: State, action: int) -> bool:
    """Return whether an action is a pass, which has no other name."""
    return state.action_to_string(action) == "pass"


def plays_points(game: Game) -> bool:
    """Return whether actions are points, perhaps followed by others, such as a pass.

    Twice as many actions as points, or more, are moves of pieces.
    """
    height, width = game.board_shape
    return game.num_distinct_actions() // (height * width) == 1
