"""Moves of a game as external programs need them."""

from __future__ import annotations

from collections.abc import Callable

from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.board_layout import point_of
from pyengine.games.game import State

#: Returns a program's name of a legal action.
Naming = Callable[[State, int], str]

_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # without I

#: Games whose stones never move, so that a position can be set up stone by stone.
_PLACING = ("go", "gomoku", "mnk", "tic_tac_toe")


def plays_of(state: State, naming: Naming) -> list[tuple[int, str]]:
    """Return player and name of each move that leads from the game's first position to a state.

    The stones of a board that was set up come first, in an order in which none captures another.

    Raises:
        ConfigError: the board was set up and cannot be reached by moves.

    """
    replay = state.game.new_initial_state()
    plays: list[tuple[int, str]] = []
    if state.game.has_board and state.game.new_initial_state(state.history()) != state:
        if state.game.name not in _PLACING:
            raise ConfigError(f"{state.game.name}: an external program cannot set up a position")
        empty, replay = replay, state.clone()
        while replay.history():
            replay.undo_action()
        for point, stone in enumerate("".join(replay.board_rows())):
            if stone != ".":
                plays.append(("XO".index(stone), naming(empty, point)))
    for action in state.history():
        plays.append((replay.current_player(), naming(replay, action)))
        replay.apply_action(action)
    return plays


def own_name(state: State, action: int) -> str:
    """Return the game's own name of a move, in one word."""
    return state.action_to_string(action).replace(" ", "_")


def vertex(state: State, action: int) -> str:
    """Return the vertex of GTP where a move places a stone: columns without I, row 1 at the bottom.

    Moves without a point have their own names.
    """
    point = point_of(state, action) if state.game.has_board else None
    if point is None:
        return own_name(state, action)
    row, column = point
    return f"{_LETTERS[column]}{state.game.board_shape[0] - row}"


def action_named(state: State, name: str, naming: Naming) -> int:
    """Return the legal action of that name; case matters only if names differ by nothing else.

    Raises:
        IllegalActionError: there is none.

    """
    actions = {naming(state, action): action for action in state.legal_actions()}
    if name in actions:
        return actions[name]
    same = [action for own, action in actions.items() if own.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    raise IllegalActionError(f"illegal move {name}")
