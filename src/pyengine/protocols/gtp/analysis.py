"""Commands that show a search while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyengine.games.game import State
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.play import generate
from pyengine.protocols.gtp.report import Report, kata_report, leela_report
from pyengine.protocols.gtp.request import Request, Restriction, read_request
from pyengine.protocols.gtp.syntax import GtpError
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult

_MakeReport = Callable[[State, Request, Engine], Report]


def _analysis(make_report: _MakeReport) -> Handler:
    """Return the command that searches until the next line of input."""

    def analyze(client: Client, arguments: list[str]) -> str:
        request, report, restriction = _read(client, arguments, make_report)
        client.response.begin()
        with client.position.turn_of(request.player):
            client.session.analyze(
                client.inbox.waiting,
                lambda result: client.response.line(report(result)),
                request.seconds,
                **restriction,
            )
        return ""

    return analyze


def _generation(make_report: _MakeReport) -> Handler:
    """Return the command that plays a move and shows the search for it."""

    def generate_and_analyze(client: Client, arguments: list[str]) -> str:
        request, report, restriction = _read(client, arguments, make_report)
        client.response.begin()
        due = time.monotonic() + request.seconds

        def show(result: SearchResult) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + request.seconds
                client.response.line(report(result))

        result, name = generate(client, request.player, show, **restriction)
        client.response.line(report(result))
        return f"play {name}"

    return generate_and_analyze


def _read(
    client: Client, arguments: list[str], make_report: _MakeReport
) -> tuple[Request, Report, Restriction]:
    """Return a request, and the writer and the restriction for its position. Raises GtpError."""
    request = read_request(arguments, client.position.player)
    with client.position.turn_of(request.player):
        if client.state.is_terminal():
            raise GtpError("the game is over")
        report = make_report(client.state.clone(), request, client.session.engine)
        return request, report, request.restriction(client.state)


COMMANDS: dict[str, Handler] = {
    "analyze": _analysis(kata_report),
    "kata-analyze": _analysis(kata_report),
    "lz-analyze": _analysis(leela_report),
    "genmove_analyze": _generation(kata_report),
    "kata-genmove_analyze": _generation(kata_report),
    "lz-genmove_analyze": _generation(leela_report),
}
