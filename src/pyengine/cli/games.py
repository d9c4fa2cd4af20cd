"""``pyengine games``: the games of the engine with their parameters."""

from __future__ import annotations

import inspect
import re
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.games import load_game, registered_games

__all__ = ["games"]


def games(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="One game; default all.")
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """List the games with their parameters: types, ranges, defaults."""
    known = registered_games()
    if name is not None and name not in known:
        common.game_from(name, None)  # says what was perhaps meant
    chosen = known if name is None else (name,)
    if as_json:
        common.print_json({each: load_game(each).params for each in chosen})
        return
    told = _descriptions()
    out = common.console()
    for each in chosen:
        out.print(Text.assemble((each, "bold"), told[each]))
    if name is None:
        out.print()
        out.print(Text("for example 'go(board_size=9,komi=7)', or go -p board_size=9 -p komi=7"))
        out.print(Text("your own: FILE.py:NAME, see docs/guides/own-game.md"))


def _descriptions() -> dict[str, str]:
    """What the documentation of load_game says of each game, after its name."""
    lines = (inspect.getdoc(load_game) or "").split("\nGames:\n", 1)[-1].split("\n\n")[0]
    entries = re.split(r"^    (?=\S)", lines, flags=re.MULTILINE)[1:]
    told = {}
    for entry in entries:
        name, text = entry.replace("``", "").replace("\n    ", "\n").rstrip().split(":", 1)
        told[name] = f":{text}"
    return told
