"""The parts of a run on a cluster, as their supervisor sees them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyengine.base.extras import need
from pyengine.distributed import crew
from pyengine.distributed.cluster import RayWorkers
from pyengine.train.loop.child import Child
from pyengine.train.loop.part import outcome
from pyengine.train.loop.parts import Part
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder


class Told:
    """What a part is told, perhaps before it is ready; :attr:`ready` is what ``outcome`` calls."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._part: Part | None = None
        self._said: list[str | None] = []
        self._lock = threading.Lock()

    def ready(self, part: Part) -> None:
        """Take the part, and tell it what was said."""
        with self._lock:
            self._part = part
            for line in self._said:
                self._obey(part, line)

    def tell(self, line: str | None) -> None:
        """Say ``"finish"``, or None: stop at once."""
        with self._lock:
            self._said.append(line)
            if self._part is not None:
                self._obey(self._part, line)

    @staticmethod
    def _obey(part: Part, line: str | None) -> None:
        if line is None:
            part.stop()
        else:
            part.finish()


class PartBody:
    """The body of the actor in which learner or gate works; nothing of it knows Ray."""

    def __init__(self, name: str, folder: str) -> None:
        """Name the part and the run's folder."""
        self._name, self._folder, self._told = name, RunFolder(folder), Told()

    def work(self) -> tuple[int, str]:
        """Work to the end; return the status and what went wrong."""
        return outcome(self._name, self._folder, self._told.ready)

    def tell(self, line: str | None) -> None:
        """Pass on what the supervisor says."""
        self._told.tell(line)


class ActorChild(Child):
    """Learner or gate, in an actor on the driver's node."""

    def __init__(self, name: str, folder: RunFolder, options: Mapping[str, Any]) -> None:
        """Start it, with options of Ray: what it needs, where."""
        self._ray = need("ray", "distributed")
        self._folder = folder
        # It can be told something while it works.
        self._class = self._ray.remote(PartBody).options(max_concurrency=2, **options)
        super().__init__(name)

    def _start(self) -> None:
        self._actor = self._class.remote(self.name, str(self._folder.path.absolute()))
        self._work = self._actor.work.remote()
        self._outcome: tuple[int, str] | None = None

    def _status(self) -> int | None:
        if self._outcome is None:
            if not self._ray.wait([self._work], timeout=0)[0]:
                return None
            try:
                self._outcome = self._ray.get(self._work)
            except self._ray.exceptions.RayError as error:  # its process is gone
                self._outcome = (1, str(error))
            self._ray.kill(self._actor)  # nothing of it stays: locks, memory, GPU
        return self._outcome[0]

    def last_words(self) -> str:
        """Return what it said of its end."""
        return "" if self._outcome is None else self._outcome[1]

    def _tell(self, line: str | None) -> None:
        if self._status() is None:
            self._actor.tell.remote(line)

    def end(self) -> None:
        """Kill its process."""
        self._ray.kill(self._actor)


class ThreadChild(Child):
    """Self-play: a thread here receives what the actors deliver."""

    def __init__(self, name: str, folder: RunFolder, work: Callable[[Part], None]) -> None:
        """Start it."""
        self._folder = folder
        self._work = work
        super().__init__(name)

    def _start(self) -> None:
        self._told = told = Told()
        self._outcome: tuple[int, str] | None = None

        def run() -> None:
            self._outcome = outcome(self.name, self._folder, told.ready, self._work)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def _status(self) -> int | None:
        return None if self._thread.is_alive() else (self._outcome or (1, ""))[0]

    def last_words(self) -> str:
        """Return what it said of its end."""
        return "" if self._outcome is None else self._outcome[1]

    def _tell(self, line: str | None) -> None:
        self._told.tell(line)

    def end(self) -> None:
        """Tell it to stop; its actors end with the connection at the latest."""
        self._told.tell(None)


def starter(
    node: str, options: Mapping[str, Mapping[str, Any]]
) -> Callable[[str, RunFolder, RunFile], Child]:
    """Return what starts the parts of a run, whose folder lies on a node: the driver's.

    ``options``: of learner and gate, as :func:`~pyengine.distributed.cluster.reserved` has them.
    """

    def start(name: str, folder: RunFolder, run: RunFile) -> Child:
        if name == "selfplay":
            workers = RayWorkers(run, node)
            workers.refuse_none()
            return ThreadChild(name, folder, partial(_play, workers=workers, run=run))
        return ActorChild(name, folder, options[name])

    return start


def _play(part: Part, workers: RayWorkers, run: RunFile) -> None:
    part.run = run  # what was said beside the file counts
    crew.work(part, workers)
