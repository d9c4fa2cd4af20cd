"""Moves as vertices: a column letter without I, and a row that counts from the bottom."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyengine.errors import IllegalActionError
from pyengine.games.board_layout import drops, is_pass, plays_points, point_of
from pyengine.games.game import Game, State
from pyengine.protocols.gtp.syntax import GtpError
from pyengine.search.tree import names_of_line
from pyengine.show.board import Point

_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_VERTEX = re.compile(r"([A-HJ-Z])([1-9]\d?)")


def has_vertices(game: Game) -> bool:
    """Return whether moves are named by vertices. In other games they keep their own names."""
    fits = game.has_board and max(game.board_shape) <= len(_LETTERS)
    return fits and (plays_points(game) or drops(game))


def pass_action(game: Game) -> int | None:
    """Return the action of a pass; None if the game has a board but no pass."""
    last = game.num_distinct_actions() - 1
    return last if is_pass(game.new_initial_state(), last) else None


def vertex_name(game: Game, point: Point) -> str:
    """Return the name of a row and column, such as ``D4``; row 0 is the top row."""
    row, column = point
    return f"{_LETTERS[column]}{game.board_shape[0] - row}"


def point_named(game: Game, text: str) -> Point:
    """Return the row and column of a vertex, ignoring case. Raises GtpError."""
    rows, columns = game.board_shape
    match = _VERTEX.fullmatch(text.upper())
    if match is not None and has_vertices(game):
        row, column = rows - int(match[2]), _LETTERS.index(match[1])
        if 0 <= row < rows and column < columns:
            return row, column
    raise GtpError("invalid coordinate")


def move_name(state: State, action: int) -> str:
    """Return the name of a legal move as the client sees it."""
    if not has_vertices(state.game):
        return _own_name(state, action)
    point = point_of(state, action)
    return _own_name(state, action) if point is None else vertex_name(state.game, point)


def names_of(state: State, actions: Iterable[int]) -> list[str]:
    """Return the names of moves played one after another."""
    return names_of_line(state, actions, move_name)


def find_move(state: State, text: str) -> int:
    """Return the action with a name, legal or not. Raises GtpError.

    In Connect Four a vertex is the point where the stone lands; a column number counts too.
    """
    game = state.game
    if not has_vertices(game):
        return _by_name(state, text)
    if text.lower() == "pass":
        action = pass_action(game)
        if action is None:
            raise GtpError("illegal move")
        return action
    if plays_points(game):
        if _VERTEX.fullmatch(text.upper()) is None:
            return _by_name(state, text)
        row, column = point_named(game, text)
        return row * game.board_shape[1] + column
    if text.isdigit():
        return _by_name(state, text)
    point = point_named(game, text)
    if point_of(state, point[1]) != point:
        raise GtpError("illegal move")
    return point[1]


def _own_name(state: State, action: int) -> str:
    return state.action_to_string(action).replace(" ", "_")


def _by_name(state: State, text: str) -> int:
    for action in state.legal_actions():
        name = state.action_to_string(action)
        if text in (name, name.replace(" ", "_")):
            return action
    try:
        return state.string_to_action(text)
    except IllegalActionError:
        raise GtpError("invalid coordinate") from None
