"""Boards, move names and move tables in the terminal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pyengine.errors import ConfigError
from pyengine.games.board_layout import board_of, game_look, state_text
from pyengine.games.game import State
from pyengine.games.outcomes import outcome_text
from pyengine.search.result import SearchResult
from pyengine.show.terminal import board_text, can_draw

if TYPE_CHECKING:
    from rich.console import Console


def is_drawn(state: State, console: Console) -> bool:
    """Return whether the board is drawn with stones rather than letters."""
    return can_draw(console) and state.game.has_board


def state_board(state: State, console: Console, *, status: Text | None = None) -> Text:
    """Return the board, in ASCII if the console has no colours.

    The last line is ``status``. By default it says who is to move or how the game ended, except
    for a user's game.
    """
    if status is None and state.game.has_board:
        status = Text(_status(state, console))
    if is_drawn(state, console):
        return board_text(board_of(state)).append_text(status or Text())
    lines = state_text(state).splitlines()
    if state.game.has_board:
        lines.pop()  # the engine's status line
    return Text("\n").join([*map(Text, lines), *filter(None, [status])])


def _status(state: State, console: Console) -> str:
    named = partial(game_look(state.game).player, drawn=is_drawn(state, console))
    return outcome_text(state, named, None) or f"{named(state.current_player())} to move"


def refuse_finished(state: State, console: Console) -> None:
    """Show the board and raise ConfigError if the game is over."""
    if state.is_terminal():
        ended = _status(state, console)
        console.print(state_board(state, console, status=Text(ended)))
        raise ConfigError(f"the game is over: {ended}")


def moves_table(result: SearchResult, limit: int = 10) -> Table:
    """Return a table of the best moves; the selected one is first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("move", "visits", "share", "prior", "value", "wins"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, row in enumerate(result.table_rows(limit)):
        table.add_row(*row, style=None if number else "green")
    return table
