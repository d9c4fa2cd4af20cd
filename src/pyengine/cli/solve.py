"""``pyengine solve``: the exact value of a position."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.cli.boards import refuse_finished
from pyengine.errors import ConfigError
from pyengine.exact.solver import Solver, SolveResult
from pyengine.games.board_layout import game_look, state_text
from pyengine.games.game import State

__all__ = ["solve"]

_SECONDS_AT_THE_END = 0.5  # in which what was stored is searched again, ply by ply


def solve(
    game: common.GameArgument,
    param: common.ParamOption = None,
    moves: common.MovesOption = "",
    board: common.BoardOption = None,
    to_move: common.PlayerOption = 0,
    depth: Annotated[
        int | None, typer.Option("--depth", help="Most plies to look ahead, 1 to 254.")
    ] = None,
    seconds: common.SecondsOption = None,
    score: Annotated[
        bool, typer.Option("--score", help="The margin, not only who wins (Othello, Connect Four).")
    ] = False,
    table_mb: Annotated[
        float, typer.Option("--table-mb", help="MiB of the transposition table.")
    ] = 256,
    threads: common.ThreadsOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Solve a position exactly by alpha-beta: value, best move, best play.

    Ctrl-C ends it with the best so far.
    """
    played = common.game_from(game, param)
    state = common.start_state(played, moves, board, to_move)
    refuse_finished(state, common.console(stderr=as_json))
    try:
        solver = Solver(played, table_mb=table_mb, threads=threads or 0)
        with common.console(stderr=True).status(Text(f"Solving {played}. Ctrl-C stops.")):
            result, stopped = _until_stopped(solver, state, seconds, depth=depth, score=score)
    except ConfigError as error:
        raise common.usage(str(error)) from error
    if as_json:
        common.print_json(_record(state, result))
    else:
        _show(state, result, score)
    if stopped:
        raise KeyboardInterrupt


def _until_stopped(
    solver: Solver, state: State, seconds: float | None, **options: Any
) -> tuple[SolveResult, bool]:
    """Solve; also return whether Ctrl-C stopped it. Then the table tells the best so far."""
    try:
        return solver.solve(state, seconds=seconds, **options), False
    except KeyboardInterrupt:
        return solver.solve(state, seconds=_SECONDS_AT_THE_END, **options), True


def _names(state: State, actions: list[int]) -> list[str]:
    line = state.clone()
    names = []
    for action in actions:
        names.append(line.action_to_string(action))
        line.apply_action(action)
    return names


def _record(state: State, result: SolveResult) -> dict[str, object]:
    fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    names = _names(state, result.pv)
    return {
        "game": str(state.game),
        **fields,
        "state": state.serialize(),
        "best": names[0] if names else None,
        "line": names,
    }


def _show(state: State, result: SolveResult, score: bool) -> None:
    out = common.console()
    out.print(Text(state_text(state)))
    names = _names(state, result.pv)
    value = _value(state, result.value, score) if result.exact else _guess(result.value)
    lines = (
        ("value", value),
        ("exact", "yes" if result.exact else f"no, {result.depth} plies were searched"),
        ("best", names[0] if names else "not known"),
        ("line", " ".join(names)),
        ("nodes", f"{result.nodes:,} in {result.seconds:.3f} s"),
    )
    for label, text in lines:
        common.say(out, Text(f"{label:<7}{text}"), indent=7)


def _guess(value: float) -> str:
    """Of a search that was cut off: what it did not see counts as a draw."""
    return "not known" if value == 0 else f"not known, perhaps {value:+g}"


def _value(state: State, value: float, score: bool) -> str:
    """Return the value in words, and whose it is: that of the player to move."""
    words = "a draw"
    if value:
        board = state.game.has_board
        whose = game_look(state.game).player(state.current_player(), drawn=not board)
        words = f"a {'win' if value > 0 else 'loss'} for {'' if board else 'the '}{whose}"
    return f"{value:+g}, {words}" if score else words
