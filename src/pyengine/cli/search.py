"""``pyengine search``: think about one position."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's
from rich.live import Live  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine.base.interrupts import deferred_interrupt
from pyengine.cli import common
from pyengine.cli.boards import moves_table, names_of_line, refuse_finished, state_board
from pyengine.games.game import State
from pyengine.games.go_area import score_text
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult, ending, unseen_note, win_rate
from pyengine.search.tree import signed

__all__ = ["live_progress", "percent", "search", "until_stopped"]

_BAR = 24  # characters


def search(
    game: common.GameArgument,
    param: common.ParamOption = None,
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
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Same result at any number of threads.")
    ] = False,
    algorithm: common.AlgorithmOption = None,
    seed: common.SeedOption = None,
    config: common.ConfigOption = None,
    limit: Annotated[int, typer.Option("--top", min=1, help="Moves in the table.")] = 10,
    as_json: common.JsonOption = False,
) -> None:
    """Search a position: board, best moves, principal variation, speed."""
    played = common.game_from(game, param)
    state = common.start_state(played, moves, board, to_move)
    refuse_finished(state, common.console(stderr=as_json))
    setup = common.evaluator_for(played, model, spec, provider, device)
    settings = common.config_from(
        config,
        algorithm=common.algorithm_for(setup.evaluator, algorithm, config),
        simulations=simulations,
        seconds=seconds,
        threads=threads,
        batch_size=batch_size,
        symmetry=symmetry,
        deterministic=deterministic or None,
        seed=seed,
    )
    settings = common.with_time_for_playouts(setup.evaluator, settings)
    with Engine(played, setup.evaluator, config=settings) as engine:
        result, stopped = until_stopped(engine, state, settings)
        stats = engine.stats()
    if as_json:
        common.print_json(_record(state, setup.name, settings, result, stats))
    else:
        _show(state, setup, settings, result, stats, limit)
    if stopped:
        raise KeyboardInterrupt


def until_stopped(engine: Engine, state: State, config: SearchConfig) -> tuple[SearchResult, bool]:
    """Search with the settings; return what was found, and whether Ctrl-C stopped it."""
    with (
        deferred_interrupt(engine.stop) as stopped,
        live_progress(state, config) as show,
    ):

        def on_progress(result: SearchResult) -> bool:
            if show is not None:
                show(result)
            return not stopped.is_set()

        budget = {"simulations": config.simulations, "seconds": config.seconds}
        return engine.search(state, on_progress=on_progress, **budget), stopped.is_set()


def _record(
    state: State, model: str, config: SearchConfig, result: SearchResult, stats: dict[str, Any]
) -> dict[str, Any]:
    return {
        "game": str(state.game),
        "state": state.serialize(),
        "model": model,
        "threads": common.threads_of(config),
        "best": result.action_name(result.action),
        "line": names_of_line(state, result.pv),
        "names": [result.action_name(int(a)) for a in result.actions],
        **result.to_dict(),
        "stats": stats,
        "config": common.settings_dict(config),
    }


def _show(
    state: State,
    setup: common.Setup,
    config: SearchConfig,
    result: SearchResult,
    stats: dict[str, Any],
    limit: int,
) -> None:
    out = common.console()
    out.print(state_board(state, out))
    out.print()
    out.print(moves_table(result, limit))
    proven = {None: "", -1: ", proven loss", 0: ", proven draw", 1: ", proven win"}[result.proven]
    is_go = state.game.name == "go" and state.game.has_board
    rate = result.simulations / result.seconds if result.seconds > 0 else 0.0
    lines = (
        (
            "best",
            f"{result.action_name(result.action)}, value {signed(result.value)}, "
            f"wins {percent(result)}{proven}",
        ),
        ("line", " ".join(names_of_line(state, result.pv))),
        (
            "speed",
            f"{result.simulations:,} simulations in {result.seconds:.3f} s: {rate:,.0f}/s; "
            f"{result.evaluations:,} positions evaluated, {ending(result.stop_reason)}",
        ),
        (
            "with",
            f"{setup.name}{_where(setup.name, stats['provider'])}, "
            f"{common.threads_of(config)} threads, batches of {config.batch_size}",
        ),
        ("about", setup.about),
        ("note", unseen_note(result)),
        ("score", f"{score_text(state)} by area" if is_go else ""),
    )
    out.print()
    for label, text in filter(lambda line: line[1], lines):
        common.say(out, Text.assemble((f"{label:<6}", "bold"), text), indent=6)


def _where(name: str, provider: str) -> str:
    """Return what runs the evaluator, where that is not told by its name."""
    return "" if provider == name else f" on {provider or 'the engine itself'}"


def percent(result: SearchResult) -> str:
    """Return the win rate of the player to move."""
    return f"{win_rate(result.value):.1%}"


@contextmanager
def live_progress(
    state: State, config: SearchConfig
) -> Iterator[Callable[[SearchResult], None] | None]:
    """Show how far a search is, on stderr while it is a terminal; the line disappears again."""
    err = common.console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    simulations, seconds = common.budget(config)
    start = time.perf_counter()
    with Live(console=err, transient=True, auto_refresh=False) as live:

        def show(result: SearchResult) -> None:
            spent = time.perf_counter() - start
            parts = [
                result.simulations / simulations if simulations else 0.0,
                spent / seconds if seconds else 0.0,
            ]
            done = round(_BAR * min(1.0, max(parts)))
            line = " ".join(names_of_line(state, result.pv[:6]))
            live.update(
                Text(
                    f"[{'#' * done}{'.' * (_BAR - done)}] {result.simulations:,} simulations, "
                    f"{result.simulations / max(spent, 1e-9):,.0f}/s, wins {percent(result)}, "
                    f"line {line}",
                    no_wrap=True,
                    overflow="ellipsis",
                ),
                refresh=True,
            )

        yield show
