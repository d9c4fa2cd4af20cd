"""``pyengine selfplay``: generate training data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from pyengine.cli.options import (
    EvaluatorOptions,
    GameOptions,
    JsonOption,
    SeedOption,
    SetOption,
    SimulationsOption,
    ThreadsOption,
    drop_none,
    search_settings,
)
from pyengine.cli.output import print_json, progress_bar, show, when_stopped
from pyengine.selfplay import SelfPlayConfig, SelfPlayInterrupted, SelfPlayReport
from pyengine.selfplay import selfplay as play

_PRESETS = {
    "zero": SelfPlayConfig.alphago_zero,
    "fast": SelfPlayConfig.fast,
    "gumbel": SelfPlayConfig.gumbel,
}


def selfplay(
    game_options: GameOptions,
    evaluator: EvaluatorOptions,
    out: Annotated[
        Path, Option("--out", "-o", help="Directory of shards; new games are added to it.")
    ] = Path("selfplay"),
    games: Annotated[int, Option("--games", "-g", min=1, help="Number of games.")] = 100,
    preset: Annotated[
        Literal["zero", "fast", "gumbel"],
        Option(
            help="zero: as AlphaGo Zero; fast: with fewer evaluations; gumbel: with few "
            "simulations."
        ),
    ] = "zero",
    simulations: SimulationsOption = None,
    threads: ThreadsOption = None,
    changes: SetOption = None,
    openings: Annotated[
        Path | None,
        Option(
            dir_okay=False,
            help="A file of positions from which games start: moves, or a serialised state, in "
            "each line.",
        ),
    ] = None,
    concurrent: Annotated[
        int | None, Option(min=1, help="Games played at once. Default: 64, more on a GPU.")
    ] = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play many games at once with one network and write training data.

    pyengine selfplay connect4 --games 1000 --out data
    pyengine selfplay go9 --preset fast --simulations 200 --out data

    Ctrl-C closes the open shard; the same command then adds more games.
    """
    game = game_options.load_for(evaluator.model)
    setup = evaluator.setup(game, game_options.game)
    config = _PRESETS[preset](game)
    search = drop_none(simulations=simulations, threads=threads) | search_settings("--set", changes)
    config = config.replace(
        search=config.search.replace(**search), **drop_none(concurrent_games=concurrent, seed=seed)
    )
    with when_stopped(f"the same command adds more games to {out}"):
        try:
            with progress_bar(games, _describe) as on_progress:
                report = play(
                    game, setup.evaluator, games=games, out=out, config=config,
                    openings=openings, on_progress=on_progress,
                )  # fmt: skip
        except SelfPlayInterrupted as stop:
            _print(stop.report, out, as_json)
            raise
    _print(report, out, as_json)


def _describe(report: SelfPlayReport) -> tuple[float, str]:
    return report.games, (
        f"{report.per_second('games'):.2f} games/s, "
        f"{report.per_second('positions'):.0f} positions/s, "
        f"{report.per_second('evaluations'):,.0f} evaluations/s, "
        f"{report.batch_fill:.1f} per batch, {report.mean_length:.0f} plies, "
        f"+{report.first_wins} ={report.draws} -{report.second_wins}"
    )


def _print(report: SelfPlayReport, out: Path, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict() | {"directory": str(out)})
    else:
        show(f"{report}\nin {out}")
