"""Boards, move names and move tables in the terminal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.board_layout import board_of, game_look, point_of, state_text
from pyengine.games.game import Game, State
from pyengine.games.move_names import find_action
from pyengine.games.outcomes import outcome_text, points_text, why_taken
from pyengine.search.result import SearchResult
from pyengine.show.terminal import board_text, can_draw

if TYPE_CHECKING:
    from rich.console import Console


def is_drawn(state: State, console: Console) -> bool:
    """Return whether the board is drawn with stones rather than letters."""
    return can_draw(console) and state.game.has_board


def state_board(state: State, console: Console, *, status: Text | None = None) -> Text:
    """Return the board, in letters if the console cannot show discs.

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


def legal_board(state: State, console: Console) -> Text:
    """Return the board with a ``*`` on each point where a stone may be placed."""
    points = (point_of(state, action) for action in state.legal_actions())
    marked = [point for point in points if point is not None]
    text = board_text(board_of(state), drawn=is_drawn(state, console), marked=marked)
    text.rstrip()
    return text


def _status(state: State, console: Console) -> str:
    drawn = is_drawn(state, console)
    named = partial(game_look(state.game).player, drawn=drawn)
    if ended := outcome_text(state, named, None):
        return ended
    discs = points_text(state) if state.game.name == "othello" else ""
    last = "" if drawn else _last_move(state)
    return ", ".join(filter(None, [f"{named(state.current_player())} to move", last, discs]))


def _last_move(state: State) -> str:
    """Name the last move, which a board in letters does not mark."""
    history = state.history()
    if not history:
        return ""
    return f"last move {state.game.new_initial_state().action_to_string(history[-1])}"


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


def legal_action(state: State, text: str) -> int:
    """Return the legal action with a name; an IllegalActionError says why it is none."""
    try:
        action = find_action(state, text)
    except IllegalActionError:
        example = next(map(state.action_to_string, state.legal_actions()), "none")
        raise IllegalActionError(
            f"{short_repr(text)} is not a move, expected for example {example}"
        ) from None
    if action not in state.legal_actions():
        raise IllegalActionError(_why_illegal(state, text))
    return action


def _why_illegal(state: State, text: str) -> str:
    look = game_look(state.game)
    if state.is_terminal():
        return f"{text}: the game is over"
    taken = why_taken(state, text, look.names)
    article = "" if state.game.has_board else "the "
    return taken or f"{text} is not legal for {article}{look.names[state.current_player()]}"


def player_named(option: str, text: str, game: Game, others: str = "") -> int:
    """Return the player, 0 or 1, with a name such as black, red, x, first or 0.

    ``others``: more words that the option takes, for the ConfigError.
    """
    look = game_look(game)
    for player, known in enumerate((("first", "x", "0"), ("second", "o", "1"))):
        if text.lower() in (look.names[player].lower(), *known):
            return player
    names = [name.lower() for name in look.names if game.has_board]
    words = dict.fromkeys([*names, "first", "second", "x", "o", *filter(None, [others])])
    expected = ", ".join(words)
    raise ConfigError(f"{option}: expected one of {expected}; got {short_repr(text)}")
