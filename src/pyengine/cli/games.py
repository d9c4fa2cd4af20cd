"""``pyengine games``: list the games and their parameters."""

from __future__ import annotations

import inspect
import re
from typing import Annotated

from rich.text import Text
from typer import Argument

from pyengine.cli.options import JsonOption, game_from
from pyengine.cli.output import console, print_json, say
from pyengine.games.game import Game, load_game, registered_games
from pyengine.games.named_games import names_foreign_game

_CONTINUATION = re.compile(r"\n +(?! |\w+ \()")  # a line that continues the previous one


def games(
    name: Annotated[str | None, Argument(metavar="[GAME]", help="One game. Default: all.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the games with the types, ranges and defaults of their parameters."""
    names = registered_games() if name is None else (name,)
    chosen = {text: game_from(text) for text in names}
    if as_json:
        print_json({text: game.params for text, game in chosen.items()})
        return
    descriptions = _descriptions()
    out = console()
    for title, game in chosen.items():
        if names_foreign_game(title):
            out.print(Text.assemble((title, "bold"), _parameters(game)))
            continue
        first, *parameters = descriptions[game.name].split("\n")
        say(out, Text.assemble((game.name, "bold"), first), indent=4)
        for line in parameters:
            say(out, Text(line), indent=8)
    if name is None:
        out.print()
        out.print(Text("For example 'go(board_size=9,komi=7)', or go -p board_size=9 -p komi=7."))
        out.print(Text("Your own game: FILE.py:NAME, see docs/guides/own-game.md."))


def _parameters(game: Game) -> str:
    """Describe a game that is not built in by its parameters."""
    params = game.params
    if not params:
        return f": {game.num_distinct_actions()} actions, no named parameters"
    return ":" + "".join(f"\n    {key} (here {value!r})" for key, value in params.items())


def _descriptions() -> dict[str, str]:
    """Return the entry of each game in the docstring of load_game."""
    lines = (inspect.getdoc(load_game) or "").split("\nGames:\n", 1)[-1].split("\n\n")[0]
    entries = re.split(r"^    (?=\S)", lines, flags=re.MULTILINE)[1:]
    descriptions = {}
    for entry in entries:
        name, text = entry.replace("``", "").replace("\n    ", "\n").rstrip().split(":", 1)
        descriptions[name] = f":{_CONTINUATION.sub(' ', text)}"
    return descriptions
