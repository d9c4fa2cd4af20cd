"""The parts of a run on a cluster, as the supervisor's children."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyengine.base.extras import need
from pyengine.distributed import crew
from pyengine.distributed.cluster import RayWorkers
from pyengine.train.loop.child import Child
from pyengine.train.loop.part import Part, outcome
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder


class Orders:
    """Orders to a part, stored until it is ready; ``outcome`` calls :meth:`ready`."""

    def __init__(self) -> None:
        self._part: Part | None = None
        self._orders: list[str | None] = []
        self._lock = threading.Lock()

    def ready(self, part: Part) -> None:
        """Set the part and pass on earlier orders."""
        with self._lock:
            self._part = part
            for line in self._orders:
                self._obey(part, line)

    def tell(self, line: str | None) -> None:
        """Order the part to ``"finish"``, or with None to stop immediately."""
        with self._lock:
            self._orders.append(line)
            if self._part is not None:
                self._obey(self._part, line)

    @staticmethod
    def _obey(part: Part, line: str | None) -> None:
        if line is None:
            part.stop()
        else:
            part.finish()


class PartBody:
    """The class of the actor of learner or gate; it does not depend on Ray."""

    def __init__(self, name: str, folder: str) -> None:
        self._name, self._folder, self._orders = name, RunFolder(folder), Orders()

    def work(self) -> tuple[int, str]:
        """Run the part; return the exit status and the error message."""
        return outcome(self._name, self._folder, self._orders.ready)

    def tell(self, line: str | None) -> None:
        """Pass on an order."""
        self._orders.tell(line)


class ActorChild(Child):
    """Learner or gate in an actor on the driver's node."""

    def __init__(self, name: str, folder: RunFolder, options: Mapping[str, Any]) -> None:
        self._ray = need("ray", "distributed")
        self._folder = folder
        # tell() runs beside work().
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
            except self._ray.exceptions.RayError as error:  # the process died
                self._outcome = (1, str(error))
            self._ray.kill(self._actor)  # frees locks, memory and GPU
        return self._outcome[0]

    def last_words(self) -> str:
        """Return the error message."""
        return "" if self._outcome is None else self._outcome[1]

    def _tell(self, line: str | None) -> None:
        if self._status() is None:
            self._actor.tell.remote(line)

    def end(self) -> None:
        """Kill the process."""
        self._ray.kill(self._actor)


class ThreadChild(Child):
    """Self-play: a thread that receives the games of the actors."""

    def __init__(self, name: str, folder: RunFolder, work: Callable[[Part], None]) -> None:
        self._folder = folder
        self._work = work
        super().__init__(name)

    def _start(self) -> None:
        self._orders = orders = Orders()
        self._outcome: tuple[int, str] | None = None

        def run() -> None:
            self._outcome = outcome(self.name, self._folder, orders.ready, self._work)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def _status(self) -> int | None:
        return None if self._thread.is_alive() else (self._outcome or (1, ""))[0]

    def last_words(self) -> str:
        """Return the error message."""
        return "" if self._outcome is None else self._outcome[1]

    def _tell(self, line: str | None) -> None:
        self._orders.tell(line)

    def end(self) -> None:
        """Stop the thread; its actors end with the connection at the latest."""
        self._orders.tell(None)


def starter(
    node: str, options: Mapping[str, Mapping[str, Any]]
) -> Callable[[str, RunFolder, RunFile], Child]:
    """Return a function that starts the parts of a run; ``node`` is the driver's.

    ``options``: of learner and gate, from :func:`~pyengine.distributed.cluster.reserved`.
    """

    def start(name: str, folder: RunFolder, run: RunFile) -> Child:
        if name == "selfplay":
            workers = RayWorkers(run, node)
            workers.check_room()
            return ThreadChild(name, folder, partial(_play, workers=workers, run=run))
        return ActorChild(name, folder, options[name])

    return start


def _play(part: Part, workers: RayWorkers, run: RunFile) -> None:
    part.run = run  # includes arguments that override the file
    crew.work(part, workers)
