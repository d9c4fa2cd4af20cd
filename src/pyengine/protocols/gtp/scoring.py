"""Commands about the result of a game."""

from __future__ import annotations

from pyengine.eval.evaluator import Evaluator
from pyengine.games.outcomes import sgf_result
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.final_score import FinalPosition, final_position
from pyengine.protocols.gtp.position import is_go
from pyengine.protocols.gtp.syntax import GtpError, exactly
from pyengine.protocols.gtp.vertices import vertex_name
from pyengine.show.board import Point

_OWNERS = {"black_territory": 1, "white_territory": -1}


def _final_score(client: Client, _: list[str]) -> str:
    if not is_go(client.game):
        if not client.state.is_terminal():
            raise GtpError("cannot score")
        return sgf_result(client.state, None)
    lead = _counted(client).lead
    return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"


def _counted(client: Client) -> FinalPosition:
    evaluator: Evaluator = client.session.engine.evaluator
    return final_position(client.state, evaluator)


def _final_status_list(client: Client, arguments: list[str]) -> str:
    status = exactly(arguments, 1)[0].lower()
    if status not in ("alive", "dead", "seki", *_OWNERS):
        raise GtpError("invalid status")
    if status == "seki":
        return ""
    counted = _counted(client)
    if status in _OWNERS:
        points = [
            (r, c)
            for r, row in enumerate(counted.rows)
            for c, stone in enumerate(row)
            if counted.owners[r, c] == _OWNERS[status] and (stone == "." or (r, c) in counted.dead)
        ]
        return _vertices(client, points)
    groups = [
        group for group in counted.groups() if (group[0] in counted.dead) == (status == "dead")
    ]
    return "\n".join(_vertices(client, group) for group in groups)


def _vertices(client: Client, points: list[Point]) -> str:
    return " ".join(vertex_name(client.game, point) for point in points)


COMMANDS: dict[str, Handler] = {"final_score": _final_score}
GO_COMMANDS: dict[str, Handler] = {"final_status_list": _final_status_list}
