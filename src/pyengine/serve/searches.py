"""Searches in threads, which end when their client goes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from pyengine.serve.engines import BusyError

_POLL = 0.05  # seconds between two checks whether a client is still there

T = TypeVar("T")


class Stoppable(Protocol):
    """An engine or a solver."""

    def stop(self) -> None:
        """End the running search; callable from any thread."""


class Stop:
    """Ends a search from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._running: Stoppable | None = None

    @contextmanager
    def ends(self, running: Stoppable) -> Iterator[None]:
        """Let :meth:`set` stop an engine as well."""
        self._running = running
        try:
            yield
        finally:
            self._running = None

    def set(self) -> None:
        """Ask the search to end. One that is about to begin asks :meth:`is_set`."""
        self._event.set()
        running = self._running
        if running is not None:
            running.stop()

    def is_set(self) -> bool:
        """Return whether the search should end."""
        return self._event.is_set()

    def goes_on(self, _: Any = None) -> bool:
        """Return the opposite of :meth:`is_set`, for ``on_progress``."""
        return not self._event.is_set()


class Searches:
    """Runs searches in threads, a bounded number at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads = ThreadPoolExecutor(most, "pyengine-serve")
        self._running: set[Stop] = set()

    @property
    def running(self) -> int:
        """Number of searches."""
        return len(self._running)

    def start(self, work: Callable[[Stop], T]) -> tuple[Stop, asyncio.Future[T]]:
        """Start a search in a thread. Raises BusyError if too many run."""
        if len(self._running) >= self._most:
            raise BusyError(f"searches: expected at most {self._most} at the same time")
        stop = Stop()
        self._running.add(stop)
        future = asyncio.get_running_loop().run_in_executor(self._threads, work, stop)
        future.add_done_callback(lambda _: self._running.discard(stop))
        return stop, future

    async def run(self, work: Callable[[Stop], T], is_gone: Callable[[], Awaitable[bool]]) -> T:
        """Return the result of a search, which is stopped when its client has gone."""
        stop, future = self.start(work)
        try:
            while not (await asyncio.wait([future], timeout=_POLL))[0]:
                if await is_gone():
                    stop.set()
        except asyncio.CancelledError:
            stop.set()
            raise
        return future.result()

    def close(self) -> None:
        """Stop all searches."""
        for stop in list(self._running):
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
