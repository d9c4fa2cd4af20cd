"""The analysis protocol without its streams: queries in, replies out."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyengine
from pyengine.errors import EngineError
from pyengine.protocols.analysis.jobs import Job, Jobs, Send
from pyengine.protocols.analysis.positions import game_of, positions, restricted
from pyengine.protocols.analysis.query import LONGEST_ID, QueryError, parse_query
from pyengine.protocols.analysis.searches import Searches
from pyengine.protocols.lines import log
from pyengine.protocols.session import EngineFor

#: The release of KataGo whose protocol this is; clients compare it to decide what to send.
PROTOCOL_VERSION = "1.15.0"

_POLL = 0.5  # seconds between two checks for Ctrl-C, which a blocked thread misses on Windows


class Analysis:
    """Answers queries of the analysis protocol for any number of clients.

    Args:
        engine_for: makes the engine for a game.
        name: of the engine, for clients that ask.
        max_simulations: of a search, whatever a query asks for; None = as many as it asks for.

    A background thread searches; :meth:`handle` returns at once.
    """

    def __init__(
        self,
        engine_for: EngineFor,
        name: str = "pyengine",
        *,
        max_simulations: int | None = None,
    ) -> None:
        self._name = name
        self._jobs = Jobs()
        self._searches = Searches(engine_for, max_simulations)
        self._actions: dict[str, Callable[[Mapping[str, Any], Send], dict[str, Any]]] = {
            "query_version": self._query_version,
            "query_models": self._query_models,
            "clear_cache": self._clear_cache,
            "terminate": self._terminate,
            "terminate_all": self._terminate_all,
        }
        self._worker = threading.Thread(target=self._work, name="pyengine-analysis", daemon=True)
        self._worker.start()

    def handle(self, query: Any, send: Send) -> None:
        """Answer a query.

        Args:
            query: a JSON value.
            send: receives each reply, from several threads. It identifies the client: pass the
                same object with all queries of a client.

        """
        try:
            query_id = _id_of(query)
        except QueryError as error:
            send({"error": str(error)})
            return
        try:
            if "action" in query:
                self._act(query, send)
            else:
                self._enqueue(query, send)
        except QueryError as error:
            send({"error": str(error), "field": error.field, "id": query_id})

    def disconnect(self, send: Send) -> None:
        """Forget the queries of a client, who receives no more replies than are on their way."""
        self._jobs.terminate(send)

    def finish(self, *, at_once: bool = False) -> None:
        """Wait for the open queries, ``at_once``: or end them, and free the engines.

        Queries of a million visits or more, which only a client ends, are always ended.
        """
        _answer_nothing(self._jobs.end(at_once=at_once))
        while self._worker.is_alive():
            self._worker.join(_POLL)
        self._searches.close()

    # --- queries

    def _enqueue(self, fields: Mapping[str, Any], send: Send) -> None:
        query = parse_query(fields)
        game, turns = game_of(query), query.turns()
        jobs = []
        for turn, state in enumerate(positions(query, game)):
            if turn in turns:
                restricted(query, state)
                job = Job(query=query, game=game, turn=turn, priority=turns[turn], send=send)
                jobs.append(job)
        for field, text in query.warnings().items():
            send({"warning": text, "field": field, "id": query.id})
        self._jobs.add(jobs)

    # --- actions

    def _act(self, query: Mapping[str, Any], send: Send) -> None:
        name = query["action"]
        action = self._actions.get(name) if isinstance(name, str) else None
        if action is None:
            raise QueryError("action", f"action: expected one of {', '.join(self._actions)}")
        send({**query, **action(query, send)})

    def _query_version(self, query: Mapping[str, Any], send: Send) -> dict[str, Any]:
        version = f"{self._name} {pyengine.__version__}"
        return {"version": PROTOCOL_VERSION, "git_hash": "<omitted>", "engine": version}

    def _query_models(self, query: Mapping[str, Any], send: Send) -> dict[str, Any]:
        models = [
            {
                "name": name,
                "internalName": name,
                "maxBatchSize": batch_size,
                "usesHumanSLProfile": False,
                "version": 1,
                "usingFP16": "false",
            }
            for name, batch_size in self._searches.models().items()
        ]
        return {"models": models}

    def _clear_cache(self, query: Mapping[str, Any], send: Send) -> dict[str, Any]:
        self._searches.clear()
        return {}

    def _terminate(self, query: Mapping[str, Any], send: Send) -> dict[str, Any]:
        query_id = query.get("terminateId")
        if not isinstance(query_id, str):
            raise QueryError("terminateId", "terminateId: expected a string")
        return self._end(send, query_id, _turn_numbers(query))

    def _terminate_all(self, query: Mapping[str, Any], send: Send) -> dict[str, Any]:
        return self._end(send, None, _turn_numbers(query))

    def _end(self, send: Send, query_id: str | None, turns: set[int] | None) -> dict[str, Any]:
        _answer_nothing(self._jobs.terminate(send, query_id, turns))
        return {}

    # --- the worker

    def _work(self) -> None:
        while jobs := self._jobs.take(self._searches.most_together):
            interrupted: Sequence[Job] = ()
            try:
                interrupted = self._searches.run(jobs, self._jobs.should_stop)
            except EngineError as error:
                _fail(jobs, str(error))
            except Exception:
                log(traceback.format_exc())
                _fail(jobs, "internal error: see the engine's log")
            _answer_nothing(self._jobs.finish(interrupted))
            for job in jobs:
                if job.is_undeliverable:
                    self.disconnect(job.send)


def _id_of(query: Any) -> str:
    if not isinstance(query, dict):
        raise QueryError("", "expected a JSON object")
    query_id = query.get("id")
    if not isinstance(query_id, str):
        raise QueryError("id", 'expected a string in the field "id"')
    if len(query_id) > LONGEST_ID:
        raise QueryError("id", f"id: expected at most {LONGEST_ID} characters")
    return query_id


def _turn_numbers(query: Mapping[str, Any]) -> set[int] | None:
    turns = query.get("turnNumbers")
    if turns is None:
        return None
    if not isinstance(turns, list) or not all(isinstance(turn, int) for turn in turns):
        raise QueryError("turnNumbers", "turnNumbers: expected a list of integers")
    return set(turns)


def _answer_nothing(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.answer_nothing()


def _fail(jobs: Sequence[Job], reason: str) -> None:
    for job in jobs:
        job.answer(error=reason)
