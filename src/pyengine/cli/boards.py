"""Boards and tables for the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.table import Table  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.games import State
from pyengine.result import SearchResult

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["board_text", "moves_table", "names_of_line"]

_STONES = {"X": ("●", "bold red"), "O": ("○", "bold cyan"), ".": ("·", "dim")}


def board_text(
    state: State, console: Console, *, last: int | None = None, status: Text | None = None
) -> Text:
    """Return the board: ASCII where the console is no terminal, else stones with colours.

    ``last`` is the action played last, which a terminal shows inverted; ``status`` stands in the
    place of the last line, who is to move.
    """
    plain = str(state).rstrip()
    if not _can_draw(console) or not state.game.has_board:
        if status is None:
            return Text(plain)
        return Text.assemble(plain.rpartition("\n")[0], "\n", status)
    rows = state.board_rows()
    height, width = state.game.board_shape
    left, bottom = _labels(state)
    marked = _marked(state, rows, last)
    text = Text()
    margin = max(map(len, left), default=0)
    for r in range(height):
        text.append(f"{left[r]:>{margin}} ", "dim")
        for c in range(width):
            glyph, style = _STONES[rows[r][c]]
            text.append(glyph, style + (" reverse" if (r, c) == marked else ""))
            text.append(" ")
        text.append("\n")
    text.append(" " * (margin + 1) + " ".join(bottom) + "\n", "dim")
    if status is not None:
        text.append_text(status)
    elif not state.is_terminal():
        glyph, style = _STONES["XO"[state.current_player()]]
        text.append(glyph, style)
        text.append(" to move")
    return text


def _can_draw(console: Console) -> bool:
    return console.is_terminal and console.encoding.lower().replace("-", "") == "utf8"


def _drops(state: State) -> bool:
    """Whether an action is a column."""
    height, width = state.game.board_shape
    return height > 1 and state.game.num_distinct_actions() == width


def _labels(state: State) -> tuple[list[str], list[str]]:
    """Return the names of the rows and of the columns, as the moves have them."""
    height, width = state.game.board_shape
    if _drops(state):
        return [""] * height, [state.action_to_string(c) for c in range(width)]
    rows = [re.sub(r"\D", "", state.action_to_string(r * width)) for r in range(height)]
    return rows, [re.sub(r"\d", "", state.action_to_string(c)) for c in range(width)]


def _marked(state: State, rows: list[str], last: int | None) -> tuple[int, int] | None:
    height, width = state.game.board_shape
    if last is None:
        return None
    if _drops(state):
        return next(((r, last) for r in range(height) if rows[r][last] != "."), None)
    return divmod(last, width) if last < height * width else None


def moves_table(result: SearchResult, limit: int = 10) -> Table:
    """Return the best moves: visits, share, prior and value."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("move", "visits", "share", "prior", "value"):
        table.add_column(heading, justify="right", no_wrap=True)
    for i in result.order()[:limit]:
        action = int(result.actions[i])
        best = action == result.action
        table.add_row(
            result.action_name(action),
            f"{int(result.visits[i]):,}",
            f"{result.policy[action]:.1%}",
            f"{result.priors[i]:.1%}",
            f"{result.q[i]:+.3f}" if result.visits[i] else "-",
            style="green" if best else None,
        )
    return table


def names_of_line(state: State, actions: list[int]) -> list[str]:
    """Return a line of play as text, each move named where it is played."""
    names = []
    state = state.clone()
    for action in actions:
        names.append(state.action_to_string(action))
        state.apply_action(action)
    return names
