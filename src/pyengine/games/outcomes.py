"""Results of games, and reasons why a move cannot be played."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pyengine.games.board_layout import point_of
from pyengine.games.game import State
from pyengine.games.go_area import area, score_text


class Loss(StrEnum):
    """How a player loses without a final move."""

    resigns = "resigns"
    on_time = "loses on time"


#: The player, 0 or 1, who lost without a final move, and how.
Lost = tuple[int, Loss]

_SGF_LOSS = {Loss.resigns: "R", Loss.on_time: "T"}


def sgf_result(state: State, lost: Lost | None) -> str:
    """Return the SGF result (``B+7.5``, ``W+R``, ``0``); empty if the game is not over."""
    if lost is not None:
        player, how = lost
        return f"{'WB'[player]}+{_SGF_LOSS[how]}"
    if not state.is_terminal():
        return ""
    winner, margin = winner_of(state), _margin(state)
    if winner is None:
        return "0"
    return f"{'BW'[winner]}+{'' if margin is None else format(margin, 'g')}"


def outcome_text(state: State, named: Callable[[int], str], lost: Lost | None) -> str:
    """Describe how the game ended; empty if it is not over.

    Args:
        state: the last position.
        named: returns the name of a player, 0 or 1.
        lost: who lost without a final move, and how.

    """
    if lost is not None:
        player, how = lost
        return f"{named(player)} {how}: {named(1 - player)} wins"
    if not state.is_terminal():
        return ""
    winner = winner_of(state)
    result = "draw" if winner is None else f"{named(winner)} wins"
    return result + _score(state)


def winner_of(state: State) -> int | None:
    """Return the winner of a finished game, 0 or 1; None for a draw."""
    first = state.returns()[0]
    return None if not first else int(first < 0)


def points_text(state: State) -> str:
    """Describe the points on the board now: area in Go, discs in Othello, "" in other games."""
    match state.game.name if state.game.has_board else None:
        case "go":
            return score_text(state)
        case "othello":
            first, second = _discs(state)
            return f"Black {first}, White {second}"
    return ""


def _discs(state: State) -> tuple[int, int]:
    board = "".join(state.board_rows())
    return board.count("X"), board.count("O")


def _margin(state: State) -> float | None:
    """The margin in points or discs of a finished game; None if the game counts neither."""
    match state.game.name if state.game.has_board else None:
        case "go":
            first, second = area(state)
            return float(abs(first - second - float(state.game.params["komi"])))
        case "othello":
            first, second = _discs(state)
            return float(abs(first - second))
    return None


def _score(state: State) -> str:
    margin = _margin(state)
    if margin is None:
        return ""
    by = f" by {margin:g}" if margin else ""
    return f"{by} ({points_text(state)})"


def why_taken(state: State, typed: str, names: tuple[str, str]) -> str | None:
    """Say why a typed point or column is occupied; None if it is not."""
    if not state.game.has_board:
        return None
    try:
        action = state.string_to_action(typed)
    except ValueError:  # IllegalActionError
        return None
    point = point_of(state, action)
    if point is None:
        return f"column {typed} is full" if state.game.name == "connect_four" else None
    stone = state.board_rows()[point[0]][point[1]]
    return None if stone == "." else f"{typed} is occupied by {names['XO'.index(stone)]}"
