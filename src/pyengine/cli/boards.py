"""Boards and tables for the terminal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.table import Table  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.errors import ConfigError
from pyengine.games.board_layout import board_of, game_look, state_text
from pyengine.games.game import State
from pyengine.games.outcomes import outcome_text
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import signed
from pyengine.show.look import Look
from pyengine.show.terminal import board_text, can_draw

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["moves_table", "names_of_line", "refuse_finished", "state_board"]

_PROVEN = {-1: "proven loss", 0: "proven draw", 1: "proven win"}


def state_board(state: State, console: Console, *, status: Text | None = None) -> Text:
    """Return the board: ASCII where the console has no colours, else stones.

    A terminal shows the stone played last inverted. The last line is ``status``, else who is to
    move or how the game ended; below a position of a user's game there is none but ``status``.
    """
    drawn = can_draw(console) and state.game.has_board
    look = game_look(state.game)
    if status is None and state.game.has_board:
        status = Text(_status(state, look, drawn=drawn))
    if not drawn:
        lines = state_text(state).splitlines()
        if state.game.has_board:
            lines.pop()  # the status as the engine words it
        return Text("\n").join([*map(Text, lines), *filter(None, [status])])
    text = board_text(board_of(state))
    return text if status is None else text.append_text(status)


def _status(state: State, look: Look, *, drawn: bool) -> str:
    ended = outcome_text(state, partial(look.player, drawn=drawn), None)
    return ended or f"{look.player(state.current_player(), drawn=drawn)} to move"


def moves_table(result: SearchResult, limit: int = 10) -> Table:
    """Return the best moves: visits, share, prior and value."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("move", "visits", "share", "prior", "value", "wins"):
        table.add_column(heading, justify="right", no_wrap=True)
    proven = result.proven_moves()
    for i in result.order()[:limit]:
        action = int(result.actions[i])
        q = float(result.q[i])
        wins = f"{win_rate(q):.1%}" if result.visits[i] else "-"
        if action in proven:
            wins = _PROVEN[proven[action]]
        table.add_row(
            result.action_name(action),
            f"{int(result.visits[i]):,}",
            f"{result.policy[action]:.1%}",
            f"{result.priors[i]:.1%}",
            signed(q) if result.visits[i] else "-",
            wins,
            style="green" if action == result.action else None,
        )
    return table


def refuse_finished(state: State, console: Console) -> None:
    """Show the board of a game that is over and raise ConfigError: there is no move to find."""
    if not state.is_terminal():
        return
    drawn = can_draw(console) and state.game.has_board
    ended = _status(state, game_look(state.game), drawn=drawn)
    console.print(state_board(state, console, status=Text(ended)))
    raise ConfigError(f"expected a position in which the game goes on, found its end: {ended}")


def names_of_line(state: State, actions: list[int]) -> list[str]:
    """Return a line of play as text, each move named where it is played."""
    names = []
    state = state.clone()
    for action in actions:
        names.append(state.action_to_string(action))
        state.apply_action(action)
    return names
