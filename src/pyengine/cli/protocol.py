"""What the commands that speak a protocol share: the options and the session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from typer import Option

from pyengine.cli.options import (
    EvaluatorOptions,
    SearchOptions,
    Setup,
    with_time_for_playouts,
)
from pyengine.games.game import Game
from pyengine.protocols.lines import log
from pyengine.protocols.session import EngineFor
from pyengine.search.engine import Engine


@dataclass(frozen=True, kw_only=True)
class NameOptions:
    """The option of every dialogue with a client."""

    panel: ClassVar = "Client"
    name: Annotated[
        str, Option(help="The engine's name as the client sees it.", show_default=True)
    ] = "pyengine"


@dataclass(frozen=True, kw_only=True)
class ClientOptions(NameOptions):
    """Options of the dialogue with a client that lets the engine ponder."""

    ponder: Annotated[bool, Option("--ponder", help="Search while the other player thinks.")] = (
        False
    )


def engines(evaluator: EvaluatorOptions, settings: SearchOptions) -> EngineFor:
    """Return a function that makes the engine for a game. A network is opened once."""
    opened: dict[str, Setup] = {}

    def engine_for(game: Game) -> Engine:
        name = evaluator.model_for(game)
        setup = opened.get(name) or evaluator.setup(game)
        opened[name] = setup
        config = with_time_for_playouts(setup.evaluator, settings.config_for(setup.evaluator))
        engine = Engine(game, setup.evaluator, config=config)
        log(f"{game} is played by {name}; {setup.for_players}".rstrip("; "))
        return engine

    return engine_for
