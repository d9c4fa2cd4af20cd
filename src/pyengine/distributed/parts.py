"""The parts of a run on a cluster, as the supervisor's children."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyengine.base.extras import need
from pyengine.distributed import crew
from pyengine.distributed.cluster import RayWorkers
from pyengine.train.loop.child import Child, ThreadChild
from pyengine.train.loop.part import Part, outcome, run_part
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder


class PartBody:
    """The class of the actor of learner or gate; it does not depend on Ray."""

    def __init__(self, name: str, path: str) -> None:
        folder = RunFolder(path)
        self._part = Part(name, folder, folder.run())

    def work(self) -> tuple[int, str]:
        """Run the part; return the exit status and the error message."""
        return outcome(lambda: run_part(self._part))

    def tell(self, line: str | None) -> None:
        """Pass on an order."""
        self._part.tell(line)


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

    def status(self) -> int | None:
        if self._outcome is None:
            if not self._ray.wait([self._work], timeout=0)[0]:
                return None
            try:
                self._outcome = self._ray.get(self._work)
            except self._ray.exceptions.RayError as error:  # the process died
                self._outcome = (1, str(error))
            self._ray.kill(self._actor)  # frees locks, memory and GPU
        return self._outcome[0]

    def last_output(self) -> str:
        """Return the error message."""
        return "" if self._outcome is None else self._outcome[1]

    def _tell(self, line: str | None) -> None:
        if self.status() is None:
            self._actor.tell.remote(line)

    def end(self) -> None:
        """Kill the process."""
        self._ray.kill(self._actor)


def starter(
    run: RunFile, node: str, options: Mapping[str, Mapping[str, Any]]
) -> Callable[[str, RunFolder], Child]:
    """Return a function that starts the parts of a run; ``node`` is the driver's.

    ``options``: of learner and gate, from :func:`~pyengine.distributed.cluster.reserved`.
    """

    def start(name: str, folder: RunFolder) -> Child:
        if name == "selfplay":
            workers = RayWorkers(run, node)
            workers.check_room()
            return ThreadChild(name, folder, run, partial(crew.work, workers=workers))
        return ActorChild(name, folder, options[name])

    return start
