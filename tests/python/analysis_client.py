"""A client of the analysis protocol, for tests."""

from __future__ import annotations

import queue
from typing import Any

from pyengine import Engine, StateEvaluator
from pyengine.games.game import Game
from pyengine.protocols.analysis.service import Analysis

GAME: dict[str, Any] = {
    "rules": "tromp-taylor",
    "boardXSize": 5,
    "boardYSize": 5,
    "moves": [],
    "maxVisits": 20,
}


def black_is_ahead(states: list[Any]) -> tuple[list[list[float]], list[float]]:
    """Equal priors and the value 0.5 for Black."""
    size = states[0].game.num_distinct_actions()
    return [[1.0] * size] * len(states), [0.5 if s.current_player() == 0 else -0.5 for s in states]


def engine_for(game: Game) -> Engine:
    return Engine(game, StateEvaluator(black_is_ahead), threads=1, solver=False)


class Client:
    """Sends queries to a service of its own and collects the replies."""

    def __init__(self, make: Any = engine_for) -> None:
        self.service = Analysis(make)
        self.replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self.send = self.replies.put

    def ask(self, query: Any = None, **fields: Any) -> None:
        """Send a query: fields of :data:`GAME` with changes, or a JSON value."""
        self.service.handle({"id": "a", **GAME, **fields} if query is None else query, self.send)

    def next(self) -> dict[str, Any]:
        """Wait for a reply."""
        return self.replies.get(timeout=60)

    def final(self, query_id: str = "a") -> dict[str, Any]:
        """Wait for the last reply to a query, and drop those before."""
        while not _is_final(reply := self.next(), query_id):
            pass
        return reply

    def finish(self) -> list[dict[str, Any]]:
        """Finish the open queries and return the replies."""
        self.service.finish()
        return [self.replies.get_nowait() for _ in range(self.replies.qsize())]


def _is_final(reply: dict[str, Any], query_id: str) -> bool:
    return reply.get("id") == query_id and reply.get("isDuringSearch") is False


def replies_to(query: Any = None, make: Any = engine_for, **fields: Any) -> list[dict[str, Any]]:
    """Return all replies to one query."""
    client = Client(make)
    client.ask(query, **fields)
    return client.finish()
