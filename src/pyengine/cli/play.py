"""``pyengine play``: play a game in the terminal."""

from __future__ import annotations

from pathlib import Path
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
from pyengine.cli.play_record import game_of_record
from pyengine.search.engine import Engine


def play(
    position: PositionOptions,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    human: Annotated[Human, Option(help="The players controlled by a person.")] = Human.first,
    clock: Annotated[str | None, Option(metavar="TIME", help=CLOCK_HELP)] = None,
    load: Annotated[
        Path | None,
        Option(
            dir_okay=False,
            help="Continue a saved game, with the file's rules if GAME has no parameters.",
        ),
    ] = None,
) -> None:
    """Play a game in the terminal."""
    game = position.load()
    if load is not None and not position.param and "(" not in position.game:
        game = game_of_record(load, game)
    start = position.state_of(game)
    clocks = None if clock is None else Clocks(clock_from(clock))
    setup = evaluator.setup(game)
    config = settings.config_for(setup.evaluator)
    if clocks is None:
        config = with_time_for_playouts(setup.evaluator, config)
    out = console()
    say(out, Text(f"{game}. Type a move, or help."))
    about = f"{setup.name}; {setup.about}".rstrip("; ")
    say(out, Text.assemble(("engine: ", "bold"), about), indent=len("engine: "))
    with Engine(game, setup.evaluator, config=config) as engine:
        dialogue = Dialogue(engine, start, human, out, clocks)
        if load is not None:
            dialogue.load(load)
        dialogue.run()
    if dialogue.left_by_ctrl_c:
        raise KeyboardInterrupt
