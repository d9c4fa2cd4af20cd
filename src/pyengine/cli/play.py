"""``pyengine play``: play a game in the terminal."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text
from typer import Option

from pyengine.cli.clock import CLOCK_HELP, Clocks, clock_from
from pyengine.cli.dialogue import Dialogue, Human
from pyengine.cli.options import (
    EvaluatorOptions,
    PositionOptions,
    SearchOptions,
    with_time_for_playouts,
)
from pyengine.cli.output import console, say
from pyengine.errors import ConfigError
from pyengine.games.game import Game
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.levels import level_config, level_of

_LEVEL = (
    "Strength of the engine: 1 (random moves) to the strongest, or a name such as beginner; "
    "pyengine games GAME lists them."
)


def play(
    position: PositionOptions,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    level: Annotated[str | None, Option("--level", "-l", metavar="LEVEL", help=_LEVEL)] = None,
    human: Annotated[
        str,
        Option(metavar="PLAYER", help="Who you are: black, white, red, x, ..., both or none."),
    ] = "first",
    clock: Annotated[str | None, Option(metavar="TIME", help=CLOCK_HELP)] = None,
) -> None:
    """Play a game in the terminal.

    pyengine play go9 --level 3                          a weaker opponent
    pyengine play othello --human white --clock 5+3
    pyengine play gomoku -p board_size=9 --seconds 2
    pyengine play go --load game.sgf --human both
    """
    game = position.load_for(evaluator.model)
    start = game.new_initial_state() if position.load_file else position.state_of(game)
    persons = Human.named(human, game)
    clocks = None if clock is None else Clocks(clock_from(clock))
    setup = evaluator.setup(game, position.game)
    full = settings.config_for(setup.evaluator, stop_when_decided=True)
    config = full if level is None else _at(level, game, evaluator, settings, full)
    if clocks is None:
        config = with_time_for_playouts(setup.evaluator, config)
    out = console()
    say(out, Text(f"{game}. Type a move, or help."))
    strength = setup.for_players if level is None else str(level_of(game, level))
    about = "; ".join(filter(None, (setup.name, strength)))
    say(out, Text.assemble(("engine: ", "bold"), about), indent=len("engine: "))
    with Engine(game, setup.evaluator, config=config) as engine:
        dialogue = Dialogue(engine, start, persons, out, clocks, full if level else None)
        if position.load_file is not None:
            dialogue.load(position.load_file, position.at)
            position.play_moves(dialogue.state)
        dialogue.run()
    if dialogue.left_by_ctrl_c:
        raise KeyboardInterrupt


def _at(
    level: str, game: Game, evaluator: EvaluatorOptions, settings: SearchOptions, full: SearchConfig
) -> SearchConfig:
    """Return the settings of a level, which is that of the bundled network."""
    given = (settings.simulations, settings.seconds, evaluator.model)
    if any(value is not None for value in given):
        raise ConfigError("--level cannot be combined with --simulations, --seconds and --model")
    return full.replace(**level_config(game, level))
