"""The arguments of analysis commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from pyengine.games.game import State
from pyengine.protocols.gtp.syntax import GtpError, flag, integer, is_colour, player_of
from pyengine.protocols.gtp.vertices import find_move
from pyengine.protocols.lines import log

_INTERVAL = 100  # centiseconds
_FLAGS = ("ownership", "movesownership", "pvvisits", "rootinfo")


class Restriction(TypedDict, total=False):
    """Arguments of a search."""

    allow: list[int]
    avoid: list[int]


@dataclass
class Request:
    """What a client wants to see of a search.

    Attributes:
        player: to move.
        interval: centiseconds between two reports.
        min_moves, max_moves: number of moves to list; None = those visited.
        flags: lower-case names of the parts of a report that are switched on.
        allowed, avoided: names of moves; ``allowed`` None = all.
    """

    player: int
    interval: int = _INTERVAL
    min_moves: int = 0
    max_moves: int | None = None
    flags: set[str] = field(default_factory=set)
    allowed: list[str] | None = None
    avoided: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The time between two reports."""
        return self.interval / 100

    def restriction(self, state: State) -> Restriction:
        """Return the moves to search. Raises GtpError if none is left."""
        legal = state.legal_actions()
        restriction: Restriction = {}
        if self.allowed is not None:
            restriction["allow"] = _among(legal, state, self.allowed)
        if self.avoided:
            restriction["avoid"] = _among(legal, state, self.avoided)
        left = set(restriction.get("allow", legal)) - set(restriction.get("avoid", ()))
        if not left:
            raise GtpError("no move is left to search")
        return restriction


def _among(legal: list[int], state: State, names: list[str]) -> list[int]:
    """Return the legal ones of the named moves, as clients also name occupied points."""
    return [action for action in {find_move(state, name) for name in names} if action in legal]


def read_request(arguments: list[str], player: int) -> Request:
    """Read ``[COLOR] [INTERVAL] [KEY VALUE ...]``. Raises GtpError.

    Args:
        arguments: of the command.
        player: to move if no colour is given.

    """
    words = list(arguments)
    request = Request(player_of(words.pop(0)) if words and is_colour(words[0]) else player)
    if words and words[0].isdigit():
        request.interval = integer(words.pop(0))
    rest = iter(words)
    for key in rest:
        _read(request, key.lower(), rest)
    request.interval = request.interval or _INTERVAL
    return request


def _read(request: Request, key: str, rest: Iterator[str]) -> None:
    """Read the value of a key; skip that of an unknown one."""
    if key in ("avoid", "allow"):
        _read_moves(request, key, rest)
        return
    value = next(rest, None)
    if value is None:
        raise GtpError(f"expected a value of {key}")
    if key == "interval":
        request.interval = integer(value)
    elif key == "minmoves":
        request.min_moves = integer(value)
    elif key == "maxmoves":
        request.max_moves = integer(value)
    elif key in _FLAGS:
        request.flags = request.flags | {key} if flag(value) else request.flags - {key}
    else:
        log(f"{key} is not supported; ignored")


def _read_moves(request: Request, key: str, rest: Iterator[str]) -> None:
    """Read ``COLOR MOVE,MOVE... DEPTH``."""
    colour, moves, depth = (next(rest, "") for _ in range(3))
    names = [name for name in moves.split(",") if name]
    plies = integer(depth, 1)
    if player_of(colour) != request.player:
        log(f"{key}: ignored for the player who is not to move")
        return
    if plies > 1:
        log(f"{key}: acts on the first move alone, not on {plies} moves of the search")
    if key == "avoid":
        request.avoided += names
    else:
        request.allowed = [*(request.allowed or ()), *names]
