"""Live analysis over a WebSocket."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYetError
from contextlib import closing, suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json
from starlette.websockets import WebSocket, WebSocketDisconnect

from pyengine.errors import ConfigError, EngineError, EvaluationError
from pyengine.protocols.final_boards import FinalBoards
from pyengine.protocols.lines import log
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.serve.engines import Engines
from pyengine.serve.figures import Figures, tree_of
from pyengine.serve.guard import internal_error
from pyengine.serve.play import budget, check_going_on
from pyengine.serve.positions import Place
from pyengine.serve.requests import Analyze, error_text
from pyengine.serve.searches import Searches, Stop

_POLL = 0.05  # seconds
_LOOKS = 3  # at the search for each message, so that messages are not late
_TREE_EVERY = 0.3  # seconds between two trees

#: Sends a message from the thread of a search. It waits until the message is sent, so that a slow
#: client gets fewer messages, and raises GoneError when the search is to stop.
Post = Callable[[dict[str, Any]], None]


class GoneError(Exception):
    """The client has gone, or no longer wants an answer."""


async def receive_json(socket: WebSocket) -> Any:
    """Return the next message. Raises ConfigError if it is not JSON; WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    try:
        return from_json(message.get("text") or message.get("bytes") or b"", allow_inf_nan=False)
    except ValueError as error:
        raise ConfigError(f"message: expected JSON: {error}") from None


async def send_json(socket: WebSocket, value: Any) -> None:
    """Send a message, if the client is still there; NaN becomes null."""
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(to_json(value, inf_nan_mode="null").decode())


def _poster(socket: WebSocket, loop: asyncio.AbstractEventLoop, stop: Stop) -> Post:
    def post(message: dict[str, Any]) -> None:
        if stop.is_set():
            raise GoneError
        text = to_json(message, inf_nan_mode="null").decode()
        sent = asyncio.run_coroutine_threadsafe(socket.send_text(text), loop)
        while True:
            try:
                return sent.result(_POLL)
            except NotYetError:
                if stop.is_set():
                    raise GoneError from None
            except (WebSocketDisconnect, RuntimeError):
                raise GoneError from None

    return post


class Conversation:
    """A client's WebSocket with one search at a time; a new request ends the one before it."""

    def __init__(self, socket: WebSocket, searches: Searches) -> None:
        self._socket, self._searches = socket, searches
        self._running: tuple[Stop, asyncio.Task[None]] | None = None

    async def run(self, kind: type[Any], work: Callable[[Any, Stop, Post], None]) -> None:
        """Answer messages until the client goes.

        Args:
            kind: the type of a request; ``{"type": "stop"}`` ends the running one.
            work: answers a request in a thread.

        """
        await self._socket.accept()
        requests: TypeAdapter[Any] = TypeAdapter(kind)
        try:
            while True:
                await self._next(requests, work)
        except WebSocketDisconnect:
            pass
        finally:
            await self._end()

    async def _next(
        self, requests: TypeAdapter[Any], work: Callable[[Any, Stop, Post], None]
    ) -> None:
        number = None
        try:
            message = await receive_json(self._socket)
            if isinstance(message, dict):
                number = message.get("id")
                if message.get("type") == "stop":
                    await self._end()
                    return
            request = requests.validate_python(message)
            await self._end()
            self._begin(number, request, work)
        except ValidationError as error:
            await self._complain(number, error_text(error.errors(include_url=False)))
        except EngineError as error:
            await self._complain(number, str(error))

    def _begin(self, number: Any, request: Any, work: Callable[[Any, Stop, Post], None]) -> None:
        loop = asyncio.get_running_loop()

        def answer(stop: Stop) -> None:
            work(request, stop, _poster(self._socket, loop, stop))

        stop, future = self._searches.start(answer)
        self._running = stop, asyncio.create_task(self._watch(number, stop, future))

    async def _watch(self, number: Any, stop: Stop, future: asyncio.Future[None]) -> None:
        try:
            await future
        except GoneError:
            pass
        except EngineError as error:
            if not stop.is_set():
                await self._complain(number, str(error))
        except Exception as error:
            log("".join(traceback.format_exception(error)))
            await self._complain(number, internal_error(error))

    async def _end(self) -> None:
        """Stop the running search and wait until it has ended."""
        if self._running is not None:
            stop, task = self._running
            stop.set()
            await task
            self._running = None

    async def _complain(self, number: Any, text: str) -> None:
        await send_json(self._socket, {"type": "error", "id": number, "error": text})


def analyze(
    engines: Engines, place: Place, request: Analyze, most: int, stop: Stop, post: Post
) -> None:
    """Search a position and post results until the budget is spent or the client stops it."""
    check_going_on(place)
    simulations = budget(request.simulations, most, most)
    key = engines.key(place.game, request.network, request.algorithm)
    with engines.lend(key, place.start, place.actions) as session, stop.ends(session.engine):
        report = _Report(session.engine, place, request)
        results = session.engine.analyze(
            session.state, every=request.every / _LOOKS, simulations=simulations
        )
        due = 0.0
        with closing(results):
            for result in results:
                if (now := time.monotonic()) < due:
                    continue
                post(report.message(result, is_done=False))
                report.predict()
                due = max(due + request.every, now)
    post(report.message(result, is_done=True))


class _Report:
    """Makes the messages about one position."""

    def __init__(self, engine: Engine, place: Place, request: Analyze) -> None:
        self._request, self._figures = request, Figures(place.state)
        self._boards = FinalBoards(engine, place.state)
        self._sign = 1 if place.state.current_player() == 0 else -1
        self._ownership: list[list[float]] | None = None
        self._score: float | None = None
        self._is_predicted = False
        self._tree_due = 0.0

    def predict(self) -> None:
        """Predict the final board, once: the first message does not wait for it."""
        if self._is_predicted:
            return
        self._is_predicted = True
        with suppress(EvaluationError):
            self._boards.predict([])
        owned, lead = self._boards.ownership(), self._boards.lead()
        if owned is not None:
            self._ownership = [[round(x, 2) for x in row] for row in (self._sign * owned).tolist()]
        self._score = None if lead is None else round(self._sign * lead, 2)

    def message(self, result: SearchResult, *, is_done: bool) -> dict[str, Any]:
        """Return a message with the result so far."""
        tree = None
        if self._request.tree is not None and (is_done or time.monotonic() >= self._tree_due):
            tree = tree_of(result, self._request.tree.nodes)
            self._tree_due = time.monotonic() + _TREE_EVERY
        return {
            "type": "result",
            "id": self._request.id,
            **self._figures.of(result),
            "score": self._score,
            "ownership": self._ownership,
            "done": is_done,
            "tree": tree,
        }
