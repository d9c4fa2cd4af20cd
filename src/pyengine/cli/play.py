"""``pyengine play``: a game in the terminal, against a person, two persons, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.cli.clock import Clock
from pyengine.cli.dialogue import Dialogue, Human
from pyengine.cli.play_record import game_of_record
from pyengine.search.engine import Engine

__all__ = ["play"]


def play(
    game: common.GameArgument,
    param: common.ParamOption = None,
    human: Annotated[Human, typer.Option("--human", help="Who is a person.")] = Human.first,
    model: common.ModelOption = None,
    spec: common.SpecOption = None,
    provider: common.ProviderOption = None,
    device: common.DeviceOption = 0,
    moves: common.MovesOption = "",
    board: common.BoardOption = None,
    to_move: common.PlayerOption = 0,
    simulations: common.SimulationsOption = None,
    seconds: common.SecondsOption = None,
    threads: common.ThreadsOption = None,
    batch_size: common.BatchOption = None,
    symmetry: common.SymmetryOption = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="Of the engine's choice; 0 = its best.")
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option("--clock", help="MINUTES or MINUTES+SECONDS of each player, such as 5+3."),
    ] = None,
    load: Annotated[
        Path | None,
        typer.Option(
            "--load",
            dir_okay=False,
            help="Go on with a game that was saved, by its rules where GAME has none.",
        ),
    ] = None,
    algorithm: common.AlgorithmOption = None,
    seed: common.SeedOption = None,
    config: common.ConfigOption = None,
) -> None:
    """Play a game in the terminal. Type a move, or help."""
    played = common.game_from(game, param)
    if load is not None and not param and "(" not in game:
        played = game_of_record(load, played)
    start = common.start_state(played, moves, board, to_move)
    timer = _clock(clock)
    setup = common.evaluator_for(played, model, spec, provider, device)
    settings = common.config_from(
        config,
        algorithm=common.algorithm_for(setup.evaluator, algorithm, config),
        simulations=simulations,
        seconds=seconds,
        threads=threads,
        batch_size=batch_size,
        symmetry=symmetry,
        temperature=temperature,
        seed=seed,
    )
    if timer is None:
        settings = common.with_time_for_playouts(setup.evaluator, settings)
    out = common.console()
    common.say(out, Text(f"{played}. Type a move, or help."))
    about = f"{setup.name}; {setup.about}".rstrip("; ")
    common.say(out, Text.assemble(("engine: ", "bold"), about), indent=len("engine: "))
    with Engine(played, setup.evaluator, config=settings) as engine:
        dialogue = Dialogue(engine, start, human, out, timer)
        if load is not None:
            dialogue.load(load)
        dialogue.run()
    if dialogue.left_by_ctrl_c:
        raise KeyboardInterrupt


def _clock(text: str | None) -> Clock | None:
    try:
        return None if text is None else Clock.parse(text)
    except ValueError as error:
        raise common.usage(f"--clock: {error}") from error
