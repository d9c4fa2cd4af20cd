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
#: Sends a reply to a client, which it identifies; called from several threads. Raises OSError if
#: the client has gone.
Send: TypeAlias = Callable[[Reply], object]

_MOST_OPEN = 50_000  # positions; fewer if their games are long
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
    is_undeliverable: bool = False
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
    def weight(self) -> int:
        """A measure of the memory that the job holds."""
        return 1 + len(self.query.moves) // 100

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
        """Send a reply with the job's id, if the client is still there."""
        try:
            self.send({"id": self.query.id, "turnNumber": self.turn, **fields})
        except OSError:
            self.is_undeliverable = self.is_terminated = True

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
            weight = sum(job.weight for job in jobs)
            if self._open + weight > _MOST_OPEN:
                raise QueryError("analyzeTurns", "too many positions are waiting")
            for job in jobs:
                self._by_query[job.send, job.query.id].add(job)
                self._push(job)
            self._open += weight
            self._changed.notify_all()

    def take(self, most: Callable[[Job], int]) -> list[Job]:
        """Wait for jobs and return the most urgent one, with others of its kind that wait.

        Args:
            most: the number of jobs like this to take together.

        Returns no job after :meth:`end`, once all are finished.
        """
        with self._changed:
            while not (first := self._first()):
                if self._ends:
                    return []
                self._changed.wait()
            limit = most(first)
            self._running = [self._pop()]
            while len(self._running) < limit and (job := self._first()) and job.kind == first.kind:
                self._running.append(self._pop())
            return list(self._running)

    def should_stop(self) -> bool:
        """Return whether the running jobs are terminated or a more urgent one waits."""
        with self._changed:
            if all(job.is_terminated for job in self._running):
                return True
            urgency = min(job.urgency for job in self._running)
            first = self._first()
            return first is not None and first.urgency < urgency

    def finish(self, unfinished: Collection[Job] = ()) -> list[Job]:
        """Close the running jobs but ``unfinished``, which wait again.

        Returns those of ``unfinished`` that were terminated meanwhile: nobody else replies to them.
        """
        with self._changed:
            again = [job for job in unfinished if not job.is_terminated]
            for job in self._running:
                if job in again:
                    self._push(job)
                else:
                    self._close(job)
            self._running = []
        return [job for job in unfinished if job not in again]

    def terminate(
        self, send: Send, query_id: str | None = None, turns: Collection[int] | None = None
    ) -> list[Job]:
        """Terminate a client's jobs, of one query or all, of some turns or all.

        Returns those that were waiting: nobody else replies to them.
        """
        with self._changed:
            if query_id is None:
                keys = [key for key in self._by_query if key[0] == send]
            else:
                keys = [(send, query_id)]
            jobs = [job for key in keys for job in self._by_query.get(key, ())]
            return self._terminate(job for job in jobs if turns is None or job.turn in turns)

    def end(self, *, at_once: bool) -> list[Job]:
        """Let :meth:`take` return no job once all are finished.

        Pondering is terminated, ``at_once``: and all other jobs. Returns those that were waiting.
        """
        with self._changed:
            self._ends = True
            jobs = {job for jobs in self._by_query.values() for job in jobs}
            waiting = self._terminate(job for job in jobs if at_once or job.is_pondering)
            self._changed.notify_all()
        return waiting

    def _terminate(self, jobs: Iterable[Job]) -> list[Job]:
        """Mark jobs as terminated, close those that wait and return them."""
        waiting = []
        for job in jobs:
            if not job.is_terminated:
                job.is_terminated = True
                if job not in self._running:
                    waiting.append(job)
        for job in waiting:
            self._close(job)
        if len(self._waiting) > 2 * self._open + 100:
            self._waiting = [entry for entry in self._waiting if not entry[-1].is_terminated]
            heapq.heapify(self._waiting)
        return sorted(waiting, key=lambda job: job.number)

    def _push(self, job: Job) -> None:
        heapq.heappush(self._waiting, (job.urgency, job.number, job))

    def _first(self) -> Job | None:
        """Return the most urgent job, or None."""
        while self._waiting and self._waiting[0][-1].is_terminated:
            heapq.heappop(self._waiting)
        return self._waiting[0][-1] if self._waiting else None

    def _pop(self) -> Job:
        """Remove the job that :meth:`_first` returns."""
        return heapq.heappop(self._waiting)[-1]

    def _close(self, job: Job) -> None:
        self._open -= job.weight
        key = job.send, job.query.id
        self._by_query[key].discard(job)
        if not self._by_query[key]:
            del self._by_query[key]
