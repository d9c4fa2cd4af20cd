"""Positions as text, and as a page shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.board_layout import (
    drops,
    game_look,
    labels,
    last_point,
    plays_points,
    point_of,
    state_text,
)
from pyengine.games.game import Game, State
from pyengine.games.outcomes import outcome_text
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.requests import Position

_SQUARES = re.compile(r"([A-Za-z]+\d+)\W*([A-Za-z]+\d+)?")  # of a move: from and to, or one
_STONES = str.maketrans("XO", "xo")
_ON_LINES = ("go", "gomoku")

#: Row and column, from the top left.
Cell = list[int] | None


@dataclass(frozen=True)
class Place:
    """A position that a request names."""

    game: Game
    name: str  #: of the game, for requests
    start: State
    actions: tuple[int, ...]
    state: State

    def to_dict(self) -> dict[str, Any]:
        """Return the position as requests give it."""
        return position_of(self.name, self.start, self.actions)


def read_position(position: Position, catalogue: Catalogue) -> Place:
    """Return the position of a request. Raises ConfigError or IllegalActionError."""
    game = catalogue.game(position.game)
    start = read_start(game, position.start)
    state, actions = start.clone(), []
    for number, move in enumerate(position.moves):
        try:
            actions.append(state.string_to_action(move))
            state.apply_action(actions[-1])
        except IllegalActionError:
            raise IllegalActionError(
                f"moves[{number}]: expected a legal move, got {short_repr(move)}"
            ) from None
    return Place(game, catalogue.name(game), start, tuple(actions), state)


def read_start(game: Game, text: str | None) -> State:
    """Return the start that a text such as ``"xo./.x./... o"`` describes. Raises ConfigError.

    Rows are separated by ``/``, the top row first; the player to move follows after a blank.
    """
    if text is None:
        return game.new_initial_state()
    rows, _, player = text.partition(" ")
    if player not in ("x", "o"):
        raise ConfigError(
            f"start: expected rows such as xo./.x./... and the player to move, x or o, "
            f"got {short_repr(text)}"
        )
    try:
        return game.state_from_board(rows.split("/"), "xo".index(player))
    except ConfigError as error:
        raise ConfigError(f"start: {error}") from error


def start_text(start: State) -> str | None:
    """Return the text of a start; None for the game's own."""
    if start == start.game.new_initial_state():
        return None
    rows = "/".join(start.board_rows()).translate(_STONES)
    return f"{rows} {'xo'[start.current_player()]}"


def position_of(name: str, start: State, actions: tuple[int, ...]) -> dict[str, Any]:
    """Return a position as JSON-compatible values."""
    state, moves = start.clone(), []
    for action in actions:
        moves.append(state.action_to_string(action))
        state.apply_action(action)
    return {"game": name, "start": start_text(start), "moves": moves}


def view(place: Place) -> dict[str, Any]:
    """Return what a page shows of a position, as JSON-compatible values."""
    state = place.state
    names = game_look(place.game).names
    is_over = state.is_terminal()
    return {
        "position": place.to_dict(),
        "board": board(state),
        "to_move": -1 if is_over else state.current_player(),
        "players": list(names),
        "legal": [] if is_over else legal_moves(state),
        "last": _last(state),
        "terminal": is_over,
        "returns": list(state.returns()) if is_over else None,
        "result": outcome_text(state, names.__getitem__, None) or None,
        "text": state_text(state),
    }


def board(state: State) -> dict[str, Any] | None:
    """Return the board; None if the game has none."""
    game = state.game
    if not game.has_board:
        return None
    row_names, column_names = labels(state)
    rows, columns = game.board_shape
    return {
        "rows": rows,
        "columns": columns,
        "kind": _kind(game),
        "cells": [list(row.translate(_STONES)) for row in state.board_rows()],
        "row_labels": row_names,
        "column_labels": column_names,
    }


def _kind(game: Game) -> str:
    if drops(game):
        return "columns"
    if game.name == "hex":
        return "hexagons"
    return "points" if game.name in _ON_LINES else "squares"


def legal_moves(state: State) -> list[dict[str, Any]]:
    """Return the legal moves with their names and cells."""
    cells = Cells(state)
    moves = []
    for action in state.legal_actions():
        cell, origin = cells.of(action)
        name = state.action_to_string(action)
        moves.append({"action": action, "move": name, "cell": cell, "from": origin})
    return moves


class Cells:
    """The cells of a position's moves."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._moves_pieces = state.game.has_board and not (
            plays_points(state.game) or drops(state.game)
        )
        self._rows, self._columns = labels(state) if self._moves_pieces else ([], [])

    def of(self, action: int) -> tuple[Cell, Cell]:
        """Return the cell to which a move goes, and the one from which; None for neither."""
        if not self._state.game.has_board:
            return None, None
        if not self._moves_pieces:
            point = point_of(self._state, action)
            return (None if point is None else list(point)), None
        match = _SQUARES.match(self._state.action_to_string(action))
        if match is None:
            return None, None
        first = self._named(match[1])
        return (first, None) if match[2] is None else (self._named(match[2]), first)

    def _named(self, square: str) -> Cell:
        column, row = re.sub(r"\d", "", square), re.sub(r"\D", "", square)
        if row in self._rows and column in self._columns:
            return [self._rows.index(row), self._columns.index(column)]
        return None


def _last(state: State) -> Cell:
    if not state.game.has_board or not state.history():
        return None
    if plays_points(state.game) or drops(state.game):
        point = last_point(state)
        return None if point is None else list(point)
    before = state.clone()
    action = before.history()[-1]
    before.undo_action()
    return Cells(before).of(action)[0]
