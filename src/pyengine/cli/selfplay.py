"""``pyengine selfplay``: games of a search against itself, as training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.base.arguments import in_one_line
from pyengine.cli import common
from pyengine.cli.progress import games_bar
from pyengine.errors import ConfigError
from pyengine.games.game import Game
from pyengine.selfplay import (
    SelfPlayConfig,
    SelfPlayInterrupted,
    SelfPlayReport,
)
from pyengine.selfplay import selfplay as play

__all__ = ["selfplay"]

_PRESETS = {
    "zero": SelfPlayConfig.alphago_zero,
    "fast": SelfPlayConfig.fast,
    "gumbel": SelfPlayConfig.gumbel,
}


def selfplay(
    game: common.GameArgument,
    model: common.ModelOption = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Directory of shards; goes on where it exists.")
    ] = Path("selfplay"),
    games: Annotated[int, typer.Option("--games", "-g", min=1, help="How many.")] = 100,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            help="zero: as AlphaGo Zero; fast: from fewer evaluations; gumbel: from few "
            "simulations.",
        ),
    ] = "zero",
    param: common.ParamOption = None,
    simulations: common.SimulationsOption = None,
    threads: common.ThreadsOption = None,
    batch_size: common.BatchOption = None,
    concurrent: Annotated[
        int | None,
        typer.Option("--concurrent", min=1, help="Games at once; default 64, on a GPU more."),
    ] = None,
    spec: common.SpecOption = None,
    provider: common.ProviderOption = None,
    device: common.DeviceOption = 0,
    seed: common.SeedOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Play many games at once against one network and write training data.

    Ctrl-C closes the shard that is open; the same command goes on after it.
    """
    played = common.game_from(game, param)
    setup = common.evaluator_for(played, model, spec, provider, device)
    search = {"simulations": simulations, "threads": threads, "batch_size": batch_size}
    config = _config(played, preset, search, {"concurrent_games": concurrent, "seed": seed})
    with common.when_stopped(f"the same command plays more games into {out}"):
        try:
            with _progress(games) as show:
                report = play(
                    played, setup.evaluator, games=games, out=out, config=config, on_progress=show
                )
        except SelfPlayInterrupted as stop:
            _print(stop.report, out, as_json)
            raise
    _print(report, out, as_json)


def _config(game: Game, preset: str, search: dict[str, Any], own: dict[str, Any]) -> SelfPlayConfig:
    """Return the preset with what was given. What cannot be is wrong use."""
    if preset not in _PRESETS:
        raise common.usage(
            f"--preset must be one of {', '.join(_PRESETS)}, found {in_one_line(preset)}"
        )
    made = _PRESETS[preset](game)
    given = {name: value for name, value in own.items() if value is not None}
    settings = {name: value for name, value in search.items() if value is not None}
    try:
        return made.replace(search=made.search.replace(**settings), **given)
    except ConfigError as error:
        raise common.usage(str(error)) from error


@contextmanager
def _progress(games: int) -> Iterator[Callable[[SelfPlayReport], None] | None]:
    """Show a bar on stderr; nothing where that is no terminal."""
    with games_bar(games) as bar:
        if bar is None:
            yield None
            return

        def show(report: SelfPlayReport) -> None:
            told = (
                f"{report.per_second('games'):.2f} games/s, "
                f"{report.per_second('positions'):.0f} positions/s, "
                f"{report.per_second('evaluations'):,.0f} evaluations/s, "
                f"{report.batch_fill:.1f} a batch, {report.mean_length:.0f} plies, "
                f"+{report.first_wins} ={report.draws} -{report.second_wins}"
            )
            bar(report.games, told)

        yield show


def _print(report: SelfPlayReport, out: Path, as_json: bool) -> None:
    if as_json:
        common.print_json(report.to_dict() | {"directory": str(out)})
    else:
        common.console().print(Text(f"{report}\nin {out}"))
