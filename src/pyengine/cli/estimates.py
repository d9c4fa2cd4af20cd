"""What a network predicts of the final board, as text: score and ownership."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text

from pyengine.cli.positions import is_drawn
from pyengine.errors import EvaluationError
from pyengine.games.board_layout import board_of, game_look
from pyengine.games.game import State
from pyengine.search.result import SearchResult
from pyengine.show.terminal import owners_text

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


def lead_text(state: State, score: float | None) -> str:
    """Describe a predicted score of the player to move, or return "" without one."""
    if score is None:
        return ""
    player = state.current_player()
    leader = player if score >= 0 else 1 - player
    points = f"{abs(score):.1f}"
    return "even" if points == "0.0" else f"{game_look(state.game).names[leader]} leads by {points}"


def lead_of(result: SearchResult) -> str:
    """Describe the predicted score of a result, or return "" if there is none."""
    return lead_text(result.state, _predicted(lambda: result.score))


def ownership_of(result: SearchResult, console: Console) -> Text | None:
    """Return the board of predicted owners, or None if there is none."""
    return _owners(result.state, _predicted(lambda: result.ownership), console)


def predicted_board(evaluator: Any, state: State, console: Console) -> tuple[str, Text | None]:
    """Return the predicted score in words and the board of predicted owners, without a search."""
    if not evaluator.has_final_board:
        return "", None
    ownership, score = evaluator.evaluate_final_board([state], game=state.game)
    lead = lead_text(state, None if score is None else float(score[0]))
    return lead, _owners(state, None if ownership is None else ownership[0], console)


def _owners(state: State, ownership: Any, console: Console) -> Text | None:
    if ownership is None or not state.game.has_board:
        return None
    sign = -1 if state.current_player() else 1  # of the first player
    return owners_text(board_of(state), (sign * ownership).tolist(), drawn=is_drawn(state, console))


def _predicted(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except EvaluationError:  # the network's file is gone
        return None
