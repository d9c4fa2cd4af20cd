"""Handicap stones, and set-up stones by GoGui."""

from __future__ import annotations

from pyengine.games.game import Game
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import GtpError, exactly, integer, player_of
from pyengine.protocols.gtp.vertices import point_named, vertex_name
from pyengine.show.board import Point

_LARGE = 13  # boards from this size have their handicap points on the fourth line


def handicap_points(game: Game, stones: int) -> list[Point]:
    """Return the usual points for a number of handicap stones. Raises GtpError."""
    rows, columns = game.board_shape
    (top, middle, bottom), (left, centre, right) = _lines(rows), _lines(columns)
    corners = [(bottom, left), (top, right), (top, left), (bottom, right)]
    sides = [(middle, left), (middle, right), (top, centre), (bottom, centre)]
    has_middle = rows % 2 and columns % 2 and min(rows, columns) > 7
    if min(rows, columns) < 7 or not 2 <= stones <= (9 if has_middle else 4):
        raise GtpError("invalid number of stones")
    if stones in (5, 7):
        return [*corners, *sides[: stones - 5], (middle, centre)]
    sides = sides if stones != 9 else [*sides, (middle, centre)]
    return [*corners, *sides][:stones]


def _lines(size: int) -> tuple[int, int, int]:
    edge = 3 if size >= _LARGE else 2
    return edge, size // 2, size - 1 - edge


def _fixed_handicap(client: Client, arguments: list[str]) -> str:
    points = handicap_points(client.game, integer(exactly(arguments, 1)[0]))
    return _place_handicap(client, points)


def _place_free_handicap(client: Client, arguments: list[str]) -> str:
    """The engine may place fewer stones than the client asks for."""
    stones = integer(exactly(arguments, 1)[0], 2)
    for fewer in range(min(stones, 9), 1, -1):
        try:
            points = handicap_points(client.game, fewer)
        except GtpError:
            continue
        return _place_handicap(client, points)
    raise GtpError("invalid number of stones")


def _set_free_handicap(client: Client, arguments: list[str]) -> str:
    points = [point_named(client.game, text) for text in arguments]
    if len(points) < 2:
        raise GtpError("invalid number of stones")
    if len(set(points)) < len(points):
        raise GtpError("repeated vertex")
    _place_handicap(client, points)
    return ""


def _place_handicap(client: Client, points: list[Point]) -> str:
    if not client.position.is_empty:
        raise GtpError("board not empty")
    stones = [(0, point) for point in points]
    client.position.set_up(_with_stones(client, stones), 1)
    return " ".join(vertex_name(client.game, point) for point in points)


def _with_stones(client: Client, stones: list[tuple[int, Point]]) -> list[str]:
    rows = [list(row) for row in client.state.board_rows()]
    for player, (row, column) in stones:
        rows[row][column] = "XO"[player]
    return ["".join(row) for row in rows]


def _setup(client: Client, arguments: list[str]) -> str:
    if len(arguments) % 2:
        raise GtpError("expected colors and vertices")
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    stones = [(player_of(colour), point_named(client.game, name)) for colour, name in pairs]
    player = max(client.state.current_player(), 0)
    client.position.set_up(_with_stones(client, stones), player)
    return ""


def _setup_player(client: Client, arguments: list[str]) -> str:
    client.position.set_up(client.state.board_rows(), player_of(exactly(arguments, 1)[0]))
    return ""


COMMANDS: dict[str, Handler] = {"gogui-setup": _setup, "gogui-setup_player": _setup_player}
GO_COMMANDS: dict[str, Handler] = {
    "fixed_handicap": _fixed_handicap,
    "place_free_handicap": _place_free_handicap,
    "set_free_handicap": _set_free_handicap,
}
