"""``pyengine solve``: compute the exact value of a position."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from rich.text import Text
from typer import Option

from pyengine.cli.options import JsonOption, PositionOptions, SecondsOption, ThreadsOption
from pyengine.cli.output import console, print_json, say_facts
from pyengine.cli.positions import refuse_finished
from pyengine.exact.solver import Solver, SolveResult
from pyengine.games.board_layout import game_look, state_text
from pyengine.games.game import State
from pyengine.search.tree import names_of_line

_SECONDS_AT_THE_END = 0.5  # to search the stored positions again, ply by ply


def solve(
    position: PositionOptions,
    depth: Annotated[
        int | None, Option(help="Maximum number of plies to look ahead, 1 to 254.")
    ] = None,
    seconds: SecondsOption = None,
    score: Annotated[
        bool, Option("--score", help="Compute the margin too (Othello, Connect Four).")
    ] = False,
    table_mb: Annotated[float, Option(help="Size of the transposition table in MiB.")] = 256,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve a position exactly by alpha-beta and print its value and best play.

    pyengine solve tic_tac_toe
    pyengine solve connect_four --moves "4 4 4 4 4 2" --score
    pyengine solve othello -p board_size=6 --seconds 60

    Ctrl-C stops the solver and prints the best result so far.
    """
    game = position.load()
    state = position.state_of(game)
    refuse_finished(state, console(stderr=as_json))
    solver = Solver(game, table_mb=table_mb, threads=threads or 0)
    with console(stderr=True).status(Text(f"Solving {game}. Ctrl-C stops.")):
        result, stopped = _until_stopped(solver, state, seconds, depth=depth, score=score)
    if as_json:
        print_json(_record(state, result))
    else:
        _show(state, result, score)
    if stopped:
        raise KeyboardInterrupt


def _until_stopped(
    solver: Solver, state: State, seconds: float | None, **options: Any
) -> tuple[SolveResult, bool]:
    """Solve; also return whether Ctrl-C stopped the solver, with its best result so far."""
    try:
        return solver.solve(state, seconds=seconds, **options), False
    except KeyboardInterrupt:
        return solver.solve(state, seconds=_SECONDS_AT_THE_END, **options), True


def _record(state: State, result: SolveResult) -> dict[str, object]:
    names = names_of_line(state, result.pv)
    return {
        "game": str(state.game),
        **{field.name: getattr(result, field.name) for field in dataclasses.fields(result)},
        "state": state.serialize(),
        "best": names[0] if names else None,
        "line": names,
    }


def _show(state: State, result: SolveResult, score: bool) -> None:
    out = console()
    out.print(Text(state_text(state)))
    names = names_of_line(state, result.pv)
    facts = {
        "value": _value(state, result.value, score) if result.exact else _guess(result.value),
        "exact": "yes" if result.exact else f"no, searched {result.depth} plies",
        "best": names[0] if names else "unknown",
        "line": " ".join(names),
        "nodes": f"{result.nodes:,} in {result.seconds:.3f} s",
    }
    say_facts(out, facts, 7)


def _guess(value: float) -> str:
    """Describe the value of an incomplete search, which counts unseen positions as draws."""
    return "unknown" if value == 0 else f"unknown, perhaps {value:+g}"


def _value(state: State, value: float, score: bool) -> str:
    """Describe the value for the player to move."""
    words = "a draw"
    if value:
        board = state.game.has_board
        player = game_look(state.game).player(state.current_player(), drawn=not board)
        words = f"a {'win' if value > 0 else 'loss'} for {'' if board else 'the '}{player}"
    return f"{value:+g}, {words}" if score else words
