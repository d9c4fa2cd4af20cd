"""KataGo's analysis protocol over a WebSocket, a JSON document per message."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from pyengine.errors import ConfigError
from pyengine.protocols.analysis.jobs import Reply
from pyengine.protocols.analysis.service import Analysis
from pyengine.serve.live import receive_json, send_json

_MOST_WAITING = 20_000  # replies that a client has not read


async def converse(socket: WebSocket, analysis: Analysis) -> None:
    """Answer a client's queries until it goes; then end its searches."""
    await socket.accept()
    replies = _Replies()
    sender = asyncio.create_task(replies.send_to(socket))
    try:
        while True:
            await _answer(socket, analysis, replies)
    except WebSocketDisconnect:
        pass
    finally:
        replies.has_client = False
        analysis.disconnect(replies)
        sender.cancel()
        with suppress(asyncio.CancelledError):
            await sender


async def _answer(socket: WebSocket, analysis: Analysis, replies: _Replies) -> None:
    try:
        query = await receive_json(socket)
    except ConfigError as error:
        replies({"error": str(error)})
        return
    with suppress(OSError):  # the client reads nothing: the searches have ended
        await asyncio.to_thread(analysis.handle, query, replies)


class _Replies:
    """Receives the replies for a client in any thread, and sends them in its event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Reply] = asyncio.Queue()
        self.has_client = True

    def __call__(self, reply: Reply) -> None:
        """Queue a reply. Raises OSError if the client has gone or reads too slowly."""
        if not self.has_client or self._waiting.qsize() >= _MOST_WAITING:
            raise OSError("the client has gone")
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, reply)

    async def send_to(self, socket: WebSocket) -> None:
        """Send replies until cancelled."""
        while True:
            await send_json(socket, await self._waiting.get())
