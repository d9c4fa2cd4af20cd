"""``pyengine games``: list the games, the bundled networks and the levels of play."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument

from pyengine.cli.options import JsonOption, game_from
from pyengine.cli.output import console, print_json, say
from pyengine.errors import ConfigError
from pyengine.eval.bundled import (
    board_shapes,
    bundled_models,
    game_of_model,
    network_of_text,
    networks_of_game,
    strength_in_words,
    strength_of_model,
)
from pyengine.games.game import Game, load_game, registered_games
from pyengine.games.installed import installed_games, is_in_python, package_of
from pyengine.games.named_games import bare_name, names_foreign_game
from pyengine.search.levels import Level, levels_of, opponents_of

_CONTINUATION = re.compile(r"\n +(?! |\w+ \()")  # a line that continues the previous one


def games(
    name: Annotated[
        str | None, Argument(metavar="[GAME]", help="A game or a network. Default: all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the games and the bundled networks, or show one with its parameters and levels.

    pyengine games

    pyengine games go9

    pyengine games othello --json
    """
    if as_json:
        names = (name,) if name else (*registered_games(), *_networks_alone())
        print_json({text: _entry(text) for text in names})
    elif name is None:
        _show_all(console())
    else:
        _show_one(console(), name)


def _networks_alone() -> list[str]:
    """Return the networks whose name is not that of a game."""
    return [name for name in bundled_models() if network_of_text(name)]


# --- all games


def _show_all(out: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, width in (("name", 13), ("plays", 19), ("strength", 44)):
        table.add_column(heading, width=width)
    for game, text in _descriptions().items():
        table.add_row(Text(game, "bold"), re.split(r"[;.\n]", text.strip(": "))[0], "")
        for network in networks_of_game(game):
            table.add_row(f"  {network}", _board(network), strength_in_words(network))
    for game in sorted(installed_games()):
        table.add_row(Text(game, "bold"), package_of(game), "")
    out.print(table, soft_wrap=False)
    out.print()
    for line in (
        "Play: pyengine play go9 --level 3, or pyengine play gomoku -p board_size=9.",
        "Parameters and levels of play: pyengine games NAME.",
        "Your own game: FILE.py:NAME, or pyengine new-game; see docs/guides/own-game.md.",
    ):
        say(out, Text(line))


def _board(network: str) -> str:
    """Describe what a network plays: its boards, and its komi in Go."""
    game = game_of_model(network)
    assert game is not None
    boards = " to ".join("x".join(map(str, shape)) for shape in board_shapes(network))
    return f"{boards}, komi {game.params['komi']:g}" if "komi" in game.params else boards


# --- one game


def _show_one(out: Console, name: str) -> None:
    game = game_from(name)
    if names_foreign_game(name) or game.name not in _descriptions():
        out.print(Text.assemble((name, "bold"), _parameters(game, name)))
        return
    network = network_of_text(name)
    if network is not None:
        say(out, Text.assemble((network, "bold"), f": a network for {game}"), indent=4)
        for line in (strength_in_words(network), strength_of_model(network, game)):
            if line:
                say(out, Text(f"    {line}"), indent=8)
    else:
        _show_rules(out, game)
    _show_levels(out, game)


def _show_rules(out: Console, game: Game) -> None:
    first, *parameters = _descriptions()[game.name].split("\n")
    say(out, Text.assemble((game.name, "bold"), first), indent=4)
    for line in parameters:
        say(out, Text(line), indent=8)
    for network in networks_of_game(game.name):
        words = f"    network {network}: {_board(network)}, {strength_in_words(network)}"
        say(out, Text(words), indent=8)


def _show_levels(out: Console, game: Game) -> None:
    levels = levels_of(game)
    if not levels:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("level", "name", "method", "Elo", "95 % interval"):
        is_text = heading in ("name", "method")
        table.add_column(heading, justify="left" if is_text else "right")
    rows: list[tuple[int, tuple[str, ...]]] = [
        (level.elo or 0, (str(level.number), level.name, _method(level), *_elo(level)))
        for level in levels
    ]
    rows += [(other.elo, ("", other.name, "", *_elo(other))) for other in opponents_of(game)]
    for _, row in rows if levels[-1].elo is None else sorted(rows, key=lambda row: row[0]):
        table.add_row(*row)
    out.print()
    out.print(table, soft_wrap=False)


def _method(level: Level) -> str:
    """Describe the settings of a level."""
    if level.noise == 1:
        return "random moves"
    parts = [f"{level.simulations:,} simulation{'' if level.simulations == 1 else 's'}"]
    parts += [f"{level.noise:.0%} noise"] if level.noise else []
    parts += [f"temperature {level.temperature:g}"] if level.temperature else []
    return ", ".join(parts)


def _elo(player: Any) -> tuple[str, str]:
    if player.elo is None or player.interval is None:
        return "", ""
    low, high = player.interval
    return f"{player.elo:,}", f"{low:,} to {high:,}" if low < high else ""


def _entry(name: str) -> dict[str, Any]:
    """Return what is known of a game or a network as plain values."""
    game = game_from(name)
    network = network_of_text(name)
    kind = "network" if network else "game"
    entry: dict[str, Any] = {"kind": kind, "game": str(game), "params": game.params}
    if network:
        return entry | {"strength": strength_in_words(network)}
    entry["networks"] = networks_of_game(game.name) if game.has_board else []
    entry["levels"] = [asdict(level) for level in levels_of(game)]
    return entry


def _parameters(game: Game, name: str) -> str:
    """Describe a game that is not built in by its parameters."""
    params = game.params
    if not params:
        return f": {game.num_distinct_actions()} actions, no named parameters"
    in_cpp = not names_foreign_game(name) and not is_in_python(bare_name(name))
    lines = []
    for key, value in params.items():
        allowed = f"{_allowed(bare_name(name), key)}, " if in_cpp else ""
        lines.append(f"\n    {key} ({allowed}here {value!r})")
    return ":" + "".join(lines)


def _allowed(name: str, parameter: str) -> str:
    """Return the values that a game in C++ accepts, which only its error about a wrong one says."""
    try:
        load_game(name, **{parameter: ""})
    except ConfigError as error:
        expected = re.search(r"expected (.+), got the text", str(error))
        return expected[1] if expected else "text"
    return "text"


def _descriptions() -> dict[str, str]:
    """Return the entry of each game in the docstring of load_game."""
    lines = (inspect.getdoc(load_game) or "").split("\nGames:\n", 1)[-1].split("\n\n")[0]
    entries = re.split(r"^    (?=\S)", lines, flags=re.MULTILINE)[1:]
    descriptions = {}
    for entry in entries:
        name, text = entry.replace("``", "").replace("\n    ", "\n").rstrip().split(":", 1)
        descriptions[name] = f":{_CONTINUATION.sub(' ', text)}"
    return descriptions
