"""Boards and tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.board_layout import labels, last_point
from pyengine.cli.looks import Look, look_of
from pyengine.games import State
from pyengine.result import SearchResult, win_rate

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["board_text", "can_draw", "moves_table", "names_of_line"]

_PROVEN = {-1: "proven loss", 0: "proven draw", 1: "proven win"}


def board_text(state: State, console: Console, *, status: Text | None = None) -> Text:
    """Return the board: ASCII where the console has no colours, else stones.

    A terminal shows the stone played last inverted; ``status`` stands in the place of the last
    line, who is to move.
    """
    drawn = can_draw(console) and state.game.has_board
    look = look_of(state.game)
    if status is None and not state.is_terminal() and drawn:
        status = Text(f"{look.player(state.current_player(), drawn=True)} to move")
    if not drawn:
        plain = str(state).rstrip()
        return Text(plain if status is None else f"{plain.rpartition(chr(10))[0]}\n") + (
            status or Text()
        )
    left, bottom = labels(state)
    margin = max(map(len, left), default=0)
    text = Text()
    for row, line in enumerate(_points(state, look)):
        text.append(f"{left[row]:>{margin}} ", "dim").append_text(line).append("\n")
    text.append(" " * (margin + 2) + " ".join(bottom) + "\n", "dim")
    return text if status is None else text.append_text(status)


def _points(state: State, look: Look) -> Iterator[Text]:
    """The rows of the board, a space on both sides of each point."""
    last = last_point(state)
    for r, row in enumerate(state.board_rows()):
        text = Text(" ", look.board)
        for c, stone in enumerate(row):
            player = "XO".find(stone)
            glyph = look.glyphs[player] if player >= 0 else "·"
            style = look.styles[player] if player >= 0 else look.empty
            text.append(glyph, style + (" reverse" if (r, c) == last else "")).append(" ")
        yield text


def can_draw(console: Console) -> bool:
    """Return whether stones can be shown as such: discs that differ by their colours alone."""
    in_colours = console.color_system is not None and not console.no_color  # NO_COLOR, TERM=dumb
    utf8 = console.encoding.lower().replace("-", "") == "utf8"
    return console.is_terminal and in_colours and utf8


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
            f"{q:+.3f}" if result.visits[i] else "-",
            wins,
            style="green" if action == result.action else None,
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
