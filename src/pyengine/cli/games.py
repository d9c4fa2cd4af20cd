"""``pyengine games``: the games of the engine with their parameters."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.games.game import Game, load_game, registered_games
from pyengine.games.named_games import names_foreign_game

__all__ = ["games"]

_ONE_LINE = re.compile(r"\n +(?! |\w+ \()")  # a line of the documentation that goes on


def games(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="One game; default all.")
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """List the games with their parameters: types, ranges, defaults."""
    known = registered_games()
    if name is None:
        chosen = {each: load_game(each) for each in known}
    else:
        chosen = {name: common.game_from(name, None)}  # says what was perhaps meant
    if as_json:
        common.print_json({each: game.params for each, game in chosen.items()})
        return
    told = _descriptions()
    out = common.console()
    for each, game in chosen.items():
        ours = not names_foreign_game(each)
        title, text = (game.name, told[game.name]) if ours else (each, _parameters(game))
        if ours:  # what others call their game stays whole
            text = _filled(f"{title}{text}", out.width)[len(title) :]
        out.print(Text.assemble((title, "bold"), text))
    if name is None:
        out.print()
        out.print(Text("for example 'go(board_size=9,komi=7)', or go -p board_size=9 -p komi=7"))
        out.print(Text("your own: FILE.py:NAME, see docs/guides/own-game.md"))


def _parameters(game: Game) -> str:
    """What a game of other people's code says of itself: its parameters."""
    params = game.params
    if not params:
        return f": {game.num_distinct_actions()} actions, no named parameters"
    return ":" + "".join(f"\n    {key} (here {value!r})" for key, value in params.items())


def _descriptions() -> dict[str, str]:
    """What the documentation of load_game says of each game, after its name."""
    lines = (inspect.getdoc(load_game) or "").split("\nGames:\n", 1)[-1].split("\n\n")[0]
    entries = re.split(r"^    (?=\S)", lines, flags=re.MULTILINE)[1:]
    told = {}
    for entry in entries:
        name, text = entry.replace("``", "").replace("\n    ", "\n").rstrip().split(":", 1)
        told[name] = f":{_ONE_LINE.sub(' ', text)}"
    return told


def _filled(text: str, width: int) -> str:
    """Break each line between words; what goes on is indented by four columns more."""
    filled = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        filled += textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(filled)
