"""``pyengine games``: the games of the engine with their parameters."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli.options import JsonOption, game_from
from pyengine.cli.output import console, print_json
from pyengine.games.game import Game, load_game, registered_games
from pyengine.games.named_games import names_foreign_game

_ONE_LINE = re.compile(r"\n +(?! |\w+ \()")  # a line that continues the one before


def games(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="One game; default all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the games with their parameters: types, ranges, defaults."""
    names = registered_games() if name is None else (name,)
    chosen = {each: game_from(each, None) for each in names}
    if as_json:
        print_json({each: game.params for each, game in chosen.items()})
        return
    descriptions = _descriptions()
    out = console()
    for each, game in chosen.items():
        ours = not names_foreign_game(each)
        title, text = (game.name, descriptions[game.name]) if ours else (each, _parameters(game))
        if ours:  # the name of another game is not broken
            text = _filled(f"{title}{text}", out.width)[len(title) :]
        out.print(Text.assemble((title, "bold"), text))
    if name is None:
        out.print()
        out.print(Text("for example 'go(board_size=9,komi=7)', or go -p board_size=9 -p komi=7"))
        out.print(Text("your own: FILE.py:NAME, see docs/guides/own-game.md"))


def _parameters(game: Game) -> str:
    """Describe a game of other people's code by its parameters."""
    params = game.params
    if not params:
        return f": {game.num_distinct_actions()} actions, no named parameters"
    return ":" + "".join(f"\n    {key} (here {value!r})" for key, value in params.items())


def _descriptions() -> dict[str, str]:
    """Return the entry of each game in the documentation of load_game."""
    lines = (inspect.getdoc(load_game) or "").split("\nGames:\n", 1)[-1].split("\n\n")[0]
    entries = re.split(r"^    (?=\S)", lines, flags=re.MULTILINE)[1:]
    descriptions = {}
    for entry in entries:
        name, text = entry.replace("``", "").replace("\n    ", "\n").rstrip().split(":", 1)
        descriptions[name] = f":{_ONE_LINE.sub(' ', text)}"
    return descriptions


def _filled(text: str, width: int) -> str:
    """Break each line between words, with four columns more of indent."""
    filled = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        filled += textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(filled)
