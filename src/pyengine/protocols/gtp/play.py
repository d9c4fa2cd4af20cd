"""Commands that play: moves, generated moves, undo, the board."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Unpack

from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.final_score import final_position
from pyengine.protocols.gtp.request import Restriction
from pyengine.protocols.gtp.syntax import GtpError, exactly, integer, player_of
from pyengine.protocols.gtp.vertices import find_move, move_name, pass_action
from pyengine.search.result import SearchResult

_INTERRUPT = "# interrupt"  # GoGui


def _play(client: Client, arguments: list[str]) -> str:
    if len(arguments) < 2:
        raise GtpError("expected a color and a move")
    player, move = player_of(arguments[0]), "_".join(arguments[1:])
    client.position.play(player, find_move(client.state, move))
    return ""


def _play_sequence(client: Client, arguments: list[str]) -> str:
    if len(arguments) % 2:
        raise GtpError("expected colors and moves")
    before = client.position.length
    try:
        for colour, move in zip(arguments[::2], arguments[1::2], strict=True):
            _play(client, [colour, move])
    except GtpError:
        client.position.undo_to(before)
        raise
    return ""


def _undo(client: Client, _: list[str]) -> str:
    if not client.position.undo():
        raise GtpError("cannot undo")
    return ""


def _undo_many(client: Client, arguments: list[str]) -> str:
    count = integer(exactly(arguments, 1)[0]) if arguments else 1
    if count > client.position.length:
        raise GtpError("cannot undo")
    client.position.undo_to(client.position.length - count)
    return ""


def _showboard(client: Client, _: list[str]) -> str:
    return f"\n{client.state}"


# --- generated moves


def _genmove(client: Client, arguments: list[str]) -> str:
    return generate(client, player_of(exactly(arguments, 1)[0]))[1]


def _genmove_cleanup(client: Client, arguments: list[str]) -> str:
    """Generate a move that is no pass as long as the opponent has dead stones."""
    player = player_of(exactly(arguments, 1)[0])
    counted = final_position(client.state, client.session.engine.evaluator)
    others = "OX"[player]
    has_work = any(counted.rows[r][c] == others for r, c in counted.dead)
    passing = pass_action(client.game)
    if has_work and passing is not None and _has_other_moves(client, player, passing):
        return generate(client, player, avoid=[passing])[1]
    return generate(client, player)[1]


def _has_other_moves(client: Client, player: int, passing: int) -> bool:
    with client.position.turn_of(player):
        return client.state.legal_actions() != [passing]


def _reg_genmove(client: Client, arguments: list[str]) -> str:
    """Choose a move without playing it."""
    with client.position.turn_of(player_of(exactly(arguments, 1)[0])):
        return move_name(client.state, search(client, charge=False).action)


def generate(
    client: Client,
    player: int,
    on_progress: Callable[[SearchResult], None] | None = None,
    **restriction: Unpack[Restriction],
) -> tuple[SearchResult, str]:
    """Search and play a move; return the result and the move's name, or ``resign``.

    ``on_progress`` is called about ten times a second with the result so far.
    """
    with client.position.turn_of(player):
        result = search(client, on_progress, **restriction)
        name = move_name(client.state, result.action)
    limit = client.settings.resign_below
    if limit is not None and result.win_rate < limit:
        return result, "resign"
    client.position.play(player, result.action)
    if client.settings.ponder:
        client.pondered = client.state.clone()
    return result, name


def search(
    client: Client,
    on_progress: Callable[[SearchResult], None] | None = None,
    *,
    charge: bool = True,
    **restriction: Unpack[Restriction],
) -> SearchResult:
    """Search for the player to move within its clock; GoGui may interrupt it."""
    if client.state.is_terminal():
        raise GtpError("the game is over")

    is_interrupted = client.inbox.until(_INTERRUPT)

    def goes_on(result: SearchResult) -> bool:
        if on_progress is not None:
            on_progress(result)
        return not is_interrupted()

    begin = time.monotonic()
    try:
        return client.session.choose(charge=charge, on_progress=goes_on, **restriction)
    finally:
        client.thinking_seconds += time.monotonic() - begin


COMMANDS: dict[str, Handler] = {
    "play": _play,
    "gogui-play_sequence": _play_sequence,
    "undo": _undo,
    "gg-undo": _undo_many,
    "showboard": _showboard,
    "genmove": _genmove,
    "reg_genmove": _reg_genmove,
}
GO_COMMANDS: dict[str, Handler] = {"kgs-genmove_cleanup": _genmove_cleanup}
