"""``pyengine search``: search one position."""

from __future__ import annotations

import time
from typing import Annotated, Any

from rich.text import Text
from typer import Option

from pyengine.base import machine
from pyengine.base.interrupts import deferred_interrupt
from pyengine.cli.estimates import lead_of, ownership_of
from pyengine.cli.options import (
    EvaluatorOptions,
    JsonOption,
    PositionOptions,
    SearchOptions,
    SeedOption,
    Setup,
    with_time_for_playouts,
)
from pyengine.cli.output import console, print_json, progress_bar, say_facts
from pyengine.cli.positions import moves_table, refuse_finished, state_board
from pyengine.games.game import State
from pyengine.games.outcomes import points_text
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult, ending, unseen_note
from pyengine.search.tree import PROVEN, names_of_line, signed


def search(
    position: PositionOptions,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    seed: SeedOption = None,
    ownership: Annotated[
        bool,
        Option("--ownership", help="Show the owner of each point that the network expects."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search a position and print the best moves, the principal variation and the speed.

    pyengine search go9 --moves "E5 C5 E3" --ownership
    pyengine search go --load game.sgf --at 30 -n 2000
    pyengine search othello --load game.ggf --seconds 5
    pyengine search connect_four --model model.onnx --json
    """
    game = position.load_for(evaluator.model)
    state = position.state_of(game)
    refuse_finished(state, console(stderr=as_json))
    setup = evaluator.setup(game, position.game)
    config = settings.config_for(setup.evaluator, seed=seed)
    config = with_time_for_playouts(setup.evaluator, config)
    with Engine(game, setup.evaluator, config=config) as engine:
        result, stopped = until_stopped(engine, state, config)
        stats = engine.stats()
    if as_json:
        print_json(_record(state, setup.name, config, result, stats))
    else:
        _show(state, setup, config, result, stats)
        if ownership:
            _show_ownership(result, setup.name)
    if stopped:
        raise KeyboardInterrupt


def until_stopped(engine: Engine, state: State, config: SearchConfig) -> tuple[SearchResult, bool]:
    """Search with some settings; also return whether Ctrl-C stopped the search."""
    simulations, seconds = config.simulations, config.seconds
    start = time.perf_counter()

    def describe(result: SearchResult) -> tuple[float, str]:
        elapsed = time.perf_counter() - start
        most = simulations or (800 if seconds is None else None)
        done = max(
            result.simulations / most if most else 0.0, elapsed / seconds if seconds else 0.0
        )
        line = " ".join(names_of_line(state, result.pv[:6]))
        rate = result.simulations / max(elapsed, 1e-9)
        speed = f"{result.simulations:,} simulations, {rate:,.0f}/s"
        return done, f"{speed}, wins {percent(result)}, line {line}"

    with (
        deferred_interrupt(engine.stop) as stopped,
        progress_bar(1.0, describe, counted=False) as show,
    ):

        def on_progress(result: SearchResult) -> bool:
            if show is not None:
                show(result)
            return not stopped.is_set()

        default = engine.config.to_dict()
        changes = {name: v for name, v in config.to_dict().items() if v != default[name]}
        result = engine.search(state, on_progress=on_progress, **changes)
        return result, stopped.is_set()


def threads_of(config: SearchConfig) -> int:
    """Return the number of workers on this machine."""
    return config.threads or machine.cores()


def percent(result: SearchResult) -> str:
    """Return the win rate of the player to move."""
    return f"{result.win_rate:.1%}"


def _record(
    state: State, model: str, config: SearchConfig, result: SearchResult, stats: dict[str, Any]
) -> dict[str, Any]:
    return {
        "game": str(state.game),
        "state": state.serialize(),
        "model": model,
        "threads": threads_of(config),
        "best": result.action_name(result.action),
        "line": names_of_line(state, result.pv),
        "names": [result.action_name(int(a)) for a in result.actions],
        **result.to_dict(),
        "stats": stats,
        "config": config.to_dict(),
    }


def _show(
    state: State, setup: Setup, config: SearchConfig, result: SearchResult, stats: dict[str, Any]
) -> None:
    out = console()
    out.print(state_board(state, out))
    out.print()
    out.print(moves_table(result))
    out.print()
    proven = "" if result.proven is None else f", proven {PROVEN[result.proven]}"
    rate = result.simulations / result.seconds if result.seconds > 0 else 0.0
    provider = stats["provider"]
    where = "" if provider == setup.name else f" on {provider or 'the engine itself'}"
    facts = {
        "best": f"{result.action_name(result.action)}, value {signed(result.value)}, "
        f"wins {percent(result)}{proven}",
        "line": " ".join(names_of_line(state, result.pv)),
        "speed": f"{result.simulations:,} simulations in {result.seconds:.3f} s: {rate:,.0f}/s; "
        f"{result.evaluations:,} positions evaluated, {ending(result.stop_reason)}",
        "with": f"{setup.name}{where}, {threads_of(config)} threads, "
        f"batches of {config.batch_size}",
        "about": setup.about,
        "note": unseen_note(result),
        "score": f"{lead_of(result)} (expected by {setup.name})" if lead_of(result) else "",
        "board": points_text(state),
    }
    say_facts(out, facts, 6)


def _show_ownership(result: SearchResult, model: str) -> None:
    out = console()
    owners = ownership_of(result, out)
    out.print(owners if owners is not None else Text(f"{model} does not predict ownership"))
