"""Positions that wait for a search, ordered by urgency."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyengine.games.game import Game, State
from pyengine.protocols.analysis.positions import positions
from pyengine.protocols.analysis.query import Query, QueryError

Reply: TypeAlias = dict[str, Any]
#: Sends a reply to a client, which it identifies; called from several threads.
Send: TypeAlias = Callable[[Reply], object]

_MOST_OPEN = 50_000  # positions
_PONDERING = 1_000_000  # visits: a query that only its client ends


@dataclass(eq=False, kw_only=True)
class Job:
    """A position to search, and the client who waits for it."""

    query: Query
    game: Game
    turn: int
    priority: int
    send: Send
    is_terminated: bool = False
    number: int = field(default_factory=itertools.count().__next__)

    def state(self) -> State:
        """Return the position. Raises QueryError."""
        turns = itertools.islice(positions(self.query, self.game), self.turn, None)
        return next(turns).clone()

    @property
    def visits(self) -> int | None:
        """The requested visits."""
        settings = self.query.override_settings
        limits = (self.query.max_visits, settings.max_visits, settings.max_playouts)
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def is_pondering(self) -> bool:
        """Whether the client will end the search."""
        return (self.visits or 0) >= _PONDERING

    @property
    def urgency(self) -> tuple[bool, int]:
        """The smallest comes first: pondering is last, then the priority counts."""
        return self.is_pondering, -self.priority

    @property
    def kind(self) -> tuple[Any, ...]:
        """Jobs of one kind can be searched together."""
        settings = self.query.override_settings
        budget = self.visits, settings.max_time, settings.wide_root_noise
        return self.game, self.priority, budget, self.is_restricted

    @property
    def is_restricted(self) -> bool:
        """Whether only some moves may be searched."""
        return bool(self.query.avoid_moves or self.query.allow_moves)

    def answer(self, **fields: Any) -> None:
        """Send a reply with the job's id."""
        self.send({"id": self.query.id, "turnNumber": self.turn, **fields})

    def answer_nothing(self) -> None:
        """Send the reply to a terminated query that was not searched."""
        self.answer(isDuringSearch=False, noResults=True)


class Jobs:
    """The open jobs: those that wait, and those that run. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: list[tuple[tuple[bool, int], int, Job]] = []  # a heap
        self._by_query: defaultdict[tuple[Send, str], set[Job]] = defaultdict(set)
        self._running: list[Job] = []
        self._open = 0
        self._ends = False
        self._changed = threading.Condition()

    def add(self, jobs: Collection[Job]) -> None:
        """Let jobs wait. Raises QueryError if too many do."""
        with self._changed:
            if self._open + len(jobs) > _MOST_OPEN:
                raise QueryError("analyzeTurns", f"more than {_MOST_OPEN} positions are waiting")
            for job in jobs:
                self._by_query[job.send, job.query.id].add(job)
                self._push(job)
            self._open += len(jobs)
            self._changed.notify_all()

    def take(self, most: Callable[[Job], int]) -> list[Job]:
        """Wait for jobs and return the most urgent one, with others of its kind that wait.

        Args:
            most: the number of jobs like this to take together.

        Returns no job after :meth:`end`, once all are finished.
        """
        with self._changed:
            while not (first := self._pop()):
                if self._ends:
                    return []
                self._changed.wait()
            self._running = [first]
            limit = most(first)
            while len(self._running) < limit and (job := self._pop(first.kind)):
                self._running.append(job)
            return list(self._running)

    def should_stop(self) -> bool:
        """Return whether the running jobs are terminated or a more urgent one waits."""
        with self._changed:
            if all(job.is_terminated for job in self._running):
                return True
            urgency = min(job.urgency for job in self._running)
            return any(not job.is_terminated for _, _, job in self._waiting[:1]) and (
                self._waiting[0][0] < urgency
            )

    def finish(self, unfinished: Iterable[Job] = ()) -> None:
        """Close the running jobs but ``unfinished``, which wait again."""
        with self._changed:
            again = set(unfinished)
            for job in self._running:
                if job in again:
                    self._push(job)
                else:
                    self._close(job)
            self._running = []

    def terminate(
        self, send: Send, query_id: str | None = None, turns: Collection[int] | None = None
    ) -> list[Job]:
        """Terminate a client's jobs, of one query or all, of some turns or all.

        Returns those that were waiting: nobody else replies to them.
        """
        with self._changed:
            keys = [key for key in self._by_query if key[0] is send]
            if query_id is not None:
                keys = [key for key in ((send, query_id),) if key in self._by_query]
            jobs = [
                job
                for key in keys
                for job in self._by_query[key]
                if not job.is_terminated and (turns is None or job.turn in turns)
            ]
            waiting = [job for job in jobs if job not in self._running]
            for job in jobs:
                job.is_terminated = True
            for job in waiting:
                self._close(job)
        return sorted(waiting, key=lambda job: job.number)

    def end(self, *, at_once: bool) -> None:
        """Let :meth:`take` return no job once all are done; ``at_once``: terminate them."""
        with self._changed:
            self._ends = True
            for _, _, job in self._waiting:
                job.is_terminated |= at_once or job.is_pondering
            for job in self._running:
                job.is_terminated |= at_once or job.is_pondering
            self._changed.notify_all()

    def _push(self, job: Job) -> None:
        heapq.heappush(self._waiting, (job.urgency, job.number, job))

    def _pop(self, kind: tuple[Any, ...] | None = None) -> Job | None:
        """Take the most urgent job; None if none waits, or if it is of another kind."""
        while self._waiting:
            job = self._waiting[0][-1]
            if kind is not None and not job.is_terminated and job.kind != kind:
                return None
            heapq.heappop(self._waiting)
            if not job.is_terminated:
                return job
        return None

    def _close(self, job: Job) -> None:
        self._open -= 1
        key = job.send, job.query.id
        self._by_query[key].discard(job)
        if not self._by_query[key]:
            del self._by_query[key]
