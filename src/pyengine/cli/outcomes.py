"""How a game in the terminal ended, and why a move cannot be played."""

from __future__ import annotations

from collections.abc import Callable

from pyengine.board_layout import point_of
from pyengine.games import State
from pyengine.go_area import area, score_text

__all__ = ["outcome_text", "why_taken"]


def outcome_text(state: State, named: Callable[[int], str], lost: tuple[int, str] | None) -> str:
    """Return how the game ended, empty while it goes on.

    Args:
        state: the last position.
        named: the name of a player, 0 or 1.
        lost: who lost without a last move, and how: ``(0, "resigns")``.

    """
    if lost is not None:
        player, how = lost
        return f"{named(player)} {how}: {named(1 - player)} wins"
    if not state.is_terminal():
        return ""
    first = state.returns()[0]
    result = f"{named(0 if first > 0 else 1)} wins" if first else "draw"
    return result + _score(state)


def _score(state: State) -> str:
    if state.game.name != "go" or not state.game.has_board:
        return ""
    first, second = area(state.board_rows())
    margin = abs(first - second - float(state.game.params["komi"]))
    by = f" by {margin:g}" if margin else ""
    return f"{by} ({score_text(state)})"


def why_taken(state: State, typed: str, names: tuple[str, str]) -> str | None:
    """Say so where a stone stands on the point that was typed, or the column is full."""
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
