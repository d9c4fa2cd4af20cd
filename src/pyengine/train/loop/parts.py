"""The parts of a run: self-play, learner and gate, each of which runs alone."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pyengine.data import GameSink, ShardWriter
from pyengine.data.writer import MOST_POSITIONS
from pyengine.games.game import load_game
from pyengine.train.json_files import lock
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder

#: Names of the parts, and the modules that have their ``work(part)``.
PARTS = {
    "selfplay": "pyengine.train.loop.part_selfplay",
    "learner": "pyengine.train.loop.part_learner",
    "gate": "pyengine.train.loop.part_gate",
}

PERMANENT = 2  #: exit status after an error that another start would not avoid

_STATUS_SECONDS = 0.5  # between two writings of a status


class Part:
    """The run and the folder of a part, and the requests to end it."""

    def __init__(self, name: str, folder: RunFolder, run: RunFile) -> None:
        self.name, self.folder, self.run = name, folder, run
        self._stop = threading.Event()
        self._finish = threading.Event()
        self._said = 0.0

    def stop(self) -> None:
        """Ask it to stop at once, cleanly."""
        self._stop.set()

    def finish(self) -> None:
        """Ask it to end its work."""
        self._finish.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def finishing(self) -> bool:
        return self._finish.is_set() or self.stopping

    @property
    def held(self) -> bool:
        """Whether self-play is to pause, since its games are not taken."""
        return False

    def open_sink(self, game: str, configuration: dict[str, Any], sha256: str | None) -> GameSink:
        """Return the sink of a game's finished games, a context manager: the run's data.

        Args:
            game: as the run file names it.
            configuration: of self-play.
            sha256: of the network that plays; None: no network.

        """
        return self.open_writer(game, configuration, sha256)

    def open_writer(
        self,
        game: str,
        configuration: dict[str, Any],
        sha256: str | None,
        positions: int = MOST_POSITIONS,
    ) -> ShardWriter:
        """Return the writer of a game's data, in shards of so many positions at most."""
        return ShardWriter(
            self.folder.data(game),
            load_game(game),
            self.run.spec,
            configuration=configuration,
            model_sha256=sha256,
            surprise=configuration["record_surprise"],
            positions=positions,
        )

    def wait(self, seconds: float = 0.2) -> None:
        """Wait, or return at once if it is to stop."""
        self._stop.wait(seconds)

    def say(self, values: dict[str, Any], *, now: bool = False) -> None:
        """Publish what it is doing, not too often."""
        if now or time.monotonic() - self._said >= _STATUS_SECONDS:
            self._said = time.monotonic()
            status = {"time": time.time(), "pid": os.getpid(), **values}
            with suppress(OSError):  # a full disk costs readers a status, and no work
                self.folder.set_status(self.name, status)


def run_part(
    name: str,
    folder: RunFolder,
    ready: Callable[[Part], None] | None = None,
    work: Callable[[Part], None] | None = None,
) -> None:
    """Run one of :data:`PARTS` until it is asked to end.

    Args:
        name: of the part.
        folder: of the run.
        ready: called with the part before it begins.
        work: its work; None: that of its module.

    Raises:
        EngineError: another process runs it, or its work raises.

    """
    part = Part(name, folder, folder.run())
    if ready is not None:
        ready(part)
    with lock(folder.lock(name), f"the part {name} of {folder.path}"):
        (work or importlib.import_module(PARTS[name]).work)(part)
