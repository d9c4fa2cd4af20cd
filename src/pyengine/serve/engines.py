"""Engines that requests borrow: one search per engine, the least recently used go first."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pyengine.errors import EngineError
from pyengine.games.game import Game, State
from pyengine.protocols.session import Session
from pyengine.search.engine import Engine
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.requests import Algorithm

PLAYOUTS = "rollout"  #: the evaluator of games without a network
_CACHE_ENTRIES = 1 << 15


class BusyError(EngineError):
    """Too much is going on at the same time."""


class Key(NamedTuple):
    """Requests with one key may use the same engine."""

    game: Game
    network: str  #: of an evaluator
    algorithm: Algorithm


class Engines:
    """A bounded set of engines, each with its share of the memory. Thread-safe.

    Args:
        catalogue: opens the evaluators.
        most: engines at the same time.
        memory: bytes of each.
        threads: of a search.
    """

    def __init__(self, catalogue: Catalogue, *, most: int, memory: int, threads: int) -> None:
        self._catalogue, self._most = catalogue, most
        self._memory, self._threads = memory, threads
        self._lock = threading.Lock()
        self._idle: list[tuple[Key, Session]] = []  # the most recently used is last
        self._lent: set[Session] = set()
        self._opening = 0
        self._is_closed = False

    def key(self, game: Game, network: str | None, algorithm: Algorithm | None = None) -> Key:
        """Return the key of a request; None = the best network, and the algorithm that fits it.

        Raises ConfigError or ModelError for an unknown network.
        """
        name, _ = self._catalogue.evaluator(game, network)
        return Key(game, name, algorithm or ("uct" if name == PLAYOUTS else "puct"))

    @contextmanager
    def lend(self, key: Key, start: State, actions: Sequence[int]) -> Iterator[Session]:
        """Lend an engine at a position; one that has searched it or a position before it, if idle.

        Raises BusyError if all engines are lent; ConfigError or ModelError if none can be made.
        """
        session = self._take(key, start, actions)
        try:
            if session is None:
                session = self._open(key)
            session.set_position(start, actions)
            yield session
        finally:
            self._put_back(key, session)

    def close(self) -> None:
        """Stop all searches and free the engines; lend none any more."""
        with self._lock:
            self._is_closed = True
            for session in self._lent:
                session.engine.stop()
            idle, self._idle = self._idle, []
        for _, session in idle:
            session.close()

    @property
    def busy(self) -> int:
        """Number of engines that are lent."""
        with self._lock:
            return len(self._lent)

    def _take(self, key: Key, start: State, actions: Sequence[int]) -> Session | None:
        """Take an idle engine; None reserves the right to open one."""
        with self._lock:
            if self._is_closed:
                raise BusyError("the server is shutting down")
            fitting = [entry for entry in self._idle if entry[0] == key]
            if fitting:
                entry = max(fitting, key=lambda each: _shared_plies(each[1], start, actions))
                self._idle.remove(entry)
                self._lent.add(entry[1])
                return entry[1]
            if len(self._idle) + len(self._lent) + self._opening >= self._most:
                if not self._idle:
                    raise BusyError(f"searches: expected at most {self._most} at the same time")
                self._idle.pop(0)[1].close()
            self._opening += 1
            return None

    def _open(self, key: Key) -> Session:
        _, evaluator = self._catalogue.evaluator(key.game, key.network)

        def engine_for(game: Game) -> Engine:
            return Engine(
                game,
                evaluator,
                algorithm=key.algorithm,
                threads=self._threads,
                memory_limit=self._memory,
                cache_entries=_CACHE_ENTRIES,
                seed=secrets.randbits(32),
            )

        session = Session(key.game, engine_for)
        with self._lock:
            self._opening -= 1
            self._lent.add(session)
        return session

    def _put_back(self, key: Key, session: Session | None) -> None:
        with self._lock:
            if session is None:
                self._opening -= 1
                return
            self._lent.discard(session)
            if not self._is_closed:
                self._idle.append((key, session))
                return
        session.close()


def _shared_plies(session: Session, start: State, actions: Sequence[int]) -> int:
    """Return how many plies of a game an engine's tree has behind it; -1 for another game."""
    played = session.state.history()
    is_continued = start == session.start and list(actions[: len(played)]) == played
    return len(played) if is_continued else -1
