"""Commands about time."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, Unpack

from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import GtpError, exactly, integer, player_of, real
from pyengine.search.clock import Clock

_MOST = 1e7  # seconds; a larger time counts as this
_LEAST = 1e-3

#: Kinds of time settings, with the number of their arguments.
_KGS_KINDS = {"none": 0, "absolute": 1, "byoyomi": 3, "byo-yomi": 3, "canadian": 3}
_KATA_KINDS = {**_KGS_KINDS, "fischer": 2}


_Unit: TypeAlias = Literal["periods", "period_moves"]


class _Overtime(TypedDict, total=False):
    increment: float
    periods: int
    period_seconds: float
    period_moves: int


def _time_settings(client: Client, arguments: list[str]) -> str:
    """Main time, byo-yomi time and stones; byo-yomi time without stones means no limit."""
    main, byo_yomi, stones = exactly(arguments, 3)
    seconds, moves = _seconds(byo_yomi), integer(stones)
    if seconds and not moves:
        return _set_clocks(client, 0)
    return _set_byo_yomi(client, _seconds(main), seconds, "period_moves", moves)


def _kgs_time_settings(client: Client, arguments: list[str]) -> str:
    return _set_by_kind(client, arguments, _KGS_KINDS)


def _kata_time_settings(client: Client, arguments: list[str]) -> str:
    return _set_by_kind(client, arguments, _KATA_KINDS)


def _set_by_kind(client: Client, arguments: list[str], kinds: dict[str, int]) -> str:
    kind = arguments[0].lower() if arguments else ""
    if kind not in kinds:
        raise GtpError(f"expected one of {' '.join(kinds)}")
    main, *overtime = [*exactly(arguments[1:], kinds[kind]), "0"]
    if kind in ("none", "absolute"):
        return _set_clocks(client, _seconds(main))
    seconds = _seconds(overtime[0])
    if kind == "fischer":
        return _set_clocks(client, _seconds(main), increment=seconds)
    unit: _Unit = "period_moves" if kind == "canadian" else "periods"
    return _set_byo_yomi(client, _seconds(main), seconds, unit, integer(overtime[1]))


def _set_byo_yomi(client: Client, main: float, seconds: float, unit: _Unit, count: int) -> str:
    if not (seconds and count):
        return _set_clocks(client, main)
    if unit == "periods":
        return _set_clocks(client, main, period_seconds=seconds, periods=count)
    return _set_clocks(client, main, period_seconds=seconds, period_moves=count)


def _set_clocks(client: Client, main: float, **overtime: Unpack[_Overtime]) -> str:
    """Start both clocks; without any time there is no limit."""
    has_time = main or any(overtime.values())
    client.session.clocks = [Clock(main, **overtime) if has_time else None for _ in range(2)]
    return ""


def _time_left(client: Client, arguments: list[str]) -> str:
    colour, seconds, stones = exactly(arguments, 3)
    player, left, moves = player_of(colour), max(real(seconds), _LEAST), integer(stones)
    clock = client.session.clocks[player] or Clock(min(left, _MOST))
    clock.set(min(left, _MOST), moves)
    client.session.clocks[player] = clock
    return ""


def _list_time_settings(_: Client, _arguments: list[str]) -> str:
    return " ".join(_KATA_KINDS)


def _seconds(text: str) -> float:
    seconds = real(text)
    if seconds < 0:
        raise GtpError("expected a number of seconds")
    return min(seconds, _MOST)


COMMANDS: dict[str, Handler] = {
    "time_settings": _time_settings,
    "kgs-time_settings": _kgs_time_settings,
    "kata-time_settings": _kata_time_settings,
    "kata-list_time_settings": _list_time_settings,
    "time_left": _time_left,
}
