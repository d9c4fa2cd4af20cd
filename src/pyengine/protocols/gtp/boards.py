"""Commands that start a game: board, komi, SGF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyengine.data.sgf.read import read_sgf
from pyengine.errors import ConfigError, EngineError
from pyengine.games.game import Game, load_game
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.position import is_go
from pyengine.protocols.gtp.syntax import GtpError, exactly, integer, real
from pyengine.protocols.gtp.vertices import pass_action
from pyengine.protocols.lines import log

_HALF = 0.5  # komi is a multiple


def _boardsize(client: Client, arguments: list[str]) -> str:
    sizes = [integer(text, 1) for text in arguments]
    if len(sizes) not in (1, 2):
        raise GtpError("expected a board size")
    columns, rows = sizes[0], sizes[-1]
    try:
        client.position.new_game(_resized(client.game, rows, columns))
    except EngineError as error:
        log(str(error))
        raise GtpError("unacceptable size") from error
    return ""


def _resized(game: Game, rows: int, columns: int) -> Game:
    """Return the game on another board. Raises ConfigError."""
    if game.board_shape == (rows, columns):
        return game
    params: dict[str, Any] = dict(game.params)
    by_size = 2 * game.board_shape[0] * game.board_shape[1]
    if params.get("max_game_length") == by_size:  # the default, which depends on the board
        del params["max_game_length"]
    if is_go(game):
        for name in ("board_size", "rows", "columns"):
            params.pop(name, None)
    elif rows != columns and "board_size" in params:
        raise ConfigError(f"{game.name} has no board of {columns}x{rows}")
    if "rows" in params or (is_go(game) and rows != columns):
        params |= {"rows": rows, "columns": columns}
    else:
        params["board_size"] = rows
    return load_game(game.name, **params)


def _clear_board(client: Client, _: list[str]) -> str:
    client.position.new_game(client.game)
    for clock in client.session.clocks:
        if clock is not None:
            clock.reset()
    return ""


def _komi(client: Client, arguments: list[str]) -> str:
    given = real(exactly(arguments, 1)[0])
    komi = round(given / _HALF) * _HALF
    if komi != given:
        log(f"komi {given:g}: played as {komi:g}, the nearest multiple of {_HALF}")
    change_rules(client, komi=komi)
    return ""


def change_rules(client: Client, **params: Any) -> None:
    """Continue the game under other rules. Raises EngineError."""
    game = load_game("go", **client.game.params | params)
    if game != client.game:
        client.session.change_rules(game)


def _loadsgf(client: Client, arguments: list[str]) -> str:
    """Load a game up to a move number, or to its end."""
    if not arguments:
        raise GtpError("expected a file")
    has_number = len(arguments) > 1 and arguments[-1].isascii() and arguments[-1].isdigit()
    last = integer(arguments[-1], 1) - 1 if has_number else None
    path = Path(" ".join(arguments[:-1] if has_number else arguments))
    try:
        record = read_sgf(path)
        game = record.game(client.game.name)
    except EngineError as error:
        log(str(error))
        raise GtpError("cannot load file") from error
    client.position.new_game(game)
    if record.start is not None:
        client.position.set_up(list(record.start), record.player)
    for player, action in record.moves[:last]:
        move = pass_action(game) if action is None else action
        if move is None:
            raise GtpError("cannot load file")
        client.position.play(player, move)
    return ""


COMMANDS: dict[str, Handler] = {
    "boardsize": _boardsize,
    "rectangular_boardsize": _boardsize,
    "clear_board": _clear_board,
    "loadsgf": _loadsgf,
}
GO_COMMANDS: dict[str, Handler] = {"komi": _komi}
