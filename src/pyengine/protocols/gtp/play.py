"""Commands that play: moves, generated moves, undo, the board."""

from __future__ import annotations

import time

from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import GtpFailure, exactly, integer, player_of
from pyengine.protocols.gtp.vertices import find_move, move_name
from pyengine.search.engine import OnProgress
from pyengine.search.result import SearchResult, win_rate


def _play(client: Client, arguments: list[str]) -> str:
    if len(arguments) < 2:
        raise GtpFailure("expected a color and a move")
    player, move = player_of(arguments[0]), "_".join(arguments[1:])
    client.position.play(player, find_move(client.state, move))
    return ""


def _play_sequence(client: Client, arguments: list[str]) -> str:
    if len(arguments) % 2:
        raise GtpFailure("expected colors and moves")
    before = client.position.length
    try:
        for colour, move in zip(arguments[::2], arguments[1::2], strict=True):
            _play(client, [colour, move])
    except GtpFailure:
        client.position.undo_to(before)
        raise
    return ""


def _undo(client: Client, _: list[str]) -> str:
    if not client.position.undo():
        raise GtpFailure("cannot undo")
    return ""


def _undo_many(client: Client, arguments: list[str]) -> str:
    count = integer(exactly(arguments, 1)[0]) if arguments else 1
    if count > client.position.length:
        raise GtpFailure("cannot undo")
    client.position.undo_to(client.position.length - count)
    return ""


def _showboard(client: Client, _: list[str]) -> str:
    return f"\n{client.state}"


# --- generated moves


def _genmove(client: Client, arguments: list[str]) -> str:
    return generate(client, player_of(exactly(arguments, 1)[0]))


def _reg_genmove(client: Client, arguments: list[str]) -> str:
    """Choose a move without playing it."""
    with client.position.turn_of(player_of(exactly(arguments, 1)[0])):
        return move_name(client.state, search(client).action)


def generate(client: Client, player: int, on_progress: OnProgress | None = None) -> str:
    """Search and play a move; return its name, or ``resign``."""
    with client.position.turn_of(player):
        if client.state.is_terminal():
            raise GtpFailure("the game is over")
        result = search(client, on_progress)
        name = move_name(client.state, result.action)
    limit = client.settings.resign_below
    if limit is not None and win_rate(result.value) < limit:
        return "resign"
    client.position.play(player, result.action)
    if client.settings.ponder:
        client.pondered = client.state.clone()
    return name


def search(client: Client, on_progress: OnProgress | None = None) -> SearchResult:
    """Search for the player to move; GoGui may interrupt it."""

    def goes_on(result: SearchResult) -> bool:
        if on_progress is not None:
            on_progress(result)
        return not client.input.is_interrupted()

    begin = time.monotonic()
    try:
        return client.session.choose(on_progress=goes_on)
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
