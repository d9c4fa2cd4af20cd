"""The parts of a run: self-play, learner and gate, which can each run alone.

As a process: ``python -m pyengine.train.loop.part NAME FOLDER``. Under a supervisor it reads
standard input: the line ``finish`` asks it to finish its work, and end of file (even if the
supervisor crashes) to stop immediately but cleanly.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyengine.data import GameSink, ShardWriter
from pyengine.data.writer import MOST_POSITIONS
from pyengine.errors import ConfigError, DataError, EngineError
from pyengine.games.game import load_game
from pyengine.train.json_files import lock
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder

#: Names of the parts, and the modules with their ``work(part)``.
PARTS = {
    "selfplay": "pyengine.train.loop.part_selfplay",
    "learner": "pyengine.train.loop.part_learner",
    "gate": "pyengine.train.loop.part_gate",
}

PERMANENT = 2  #: exit status after an error that a restart would not fix

_STATUS_SECONDS = 0.5  # between two status updates


class Part:
    """A part's run, folder and stop requests."""

    def __init__(self, name: str, folder: RunFolder, run: RunFile) -> None:
        self.name, self.folder, self.run = name, folder, run
        self._stop = threading.Event()
        self._finish = threading.Event()
        self._published_at = 0.0

    def stop(self) -> None:
        """Ask it to stop immediately, but cleanly."""
        self._stop.set()

    def finish(self) -> None:
        """Ask it to finish its work."""
        self._finish.set()

    def tell(self, line: str | None) -> None:
        """Follow an order of the supervisor: ``"finish"``, or None to stop."""
        if line is None:
            self.stop()
        else:
            self.finish()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def finishing(self) -> bool:
        return self._finish.is_set() or self.stopping

    @property
    def held(self) -> bool:
        """Whether self-play should pause, because its games are not being received."""
        return False

    def open_sink(self, number: int, sha256: str | None) -> GameSink:
        """Return the sink of finished games, a context manager: the run's data.

        Args:
            number: of the game in the run file.
            sha256: of the playing network; None: no network.

        """
        return self.open_writer(number, sha256)

    def open_writer(
        self, number: int, sha256: str | None, positions: int = MOST_POSITIONS
    ) -> ShardWriter:
        """Return the writer of a game's data, with a maximum shard size in positions."""
        name = self.run.game.name[number]
        config = self.run.selfplay_config(number, network=sha256 is not None)
        return ShardWriter(
            self.folder.data(name),
            load_game(name),
            self.run.spec,
            configuration=config.to_dict(),
            model_sha256=sha256,
            surprise=config.record_surprise,
            positions=positions,
        )

    def wait(self, seconds: float = 0.2) -> None:
        """Wait; return immediately if asked to stop."""
        self._stop.wait(seconds)

    def publish(self, values: dict[str, Any], *, now: bool = False) -> None:
        """Publish the status, at most twice a second unless ``now``."""
        if now or time.monotonic() - self._published_at >= _STATUS_SECONDS:
            self._published_at = time.monotonic()
            status = {"time": time.time(), "pid": os.getpid(), **values}
            with suppress(DataError):  # on a full disk readers miss a status, but work continues
                self.folder.set_status(self.name, status)


def run_part(part: Part, work: Callable[[Part], None] | None = None) -> None:
    """Run a part until it is asked to stop.

    Args:
        part: one of :data:`PARTS`.
        work: its work function; None: that of its module.

    Raises:
        EngineError: another process is running it, or its work raises.

    """
    with lock(part.folder.lock(part.name), f"the part {part.name} of {part.folder.path}"):
        (work or importlib.import_module(PARTS[part.name]).work)(part)


def outcome(run: Callable[[], None]) -> tuple[int, str]:
    """Call a function that runs a part; return 0, 1 or :data:`PERMANENT`, and the error message."""
    try:
        run()
    except EngineError as error:
        permanent = isinstance(error, ConfigError | DataError)
        return PERMANENT if permanent else 1, f"{type(error).__name__}: {error}"
    except Exception:
        return 1, traceback.format_exc()
    return 0, ""


def exit_status(run: Callable[[], None]) -> int:
    """Call a function that runs a part, print its error, and return the status of the process."""
    status, message = outcome(run)
    if status:
        print(message, file=sys.stderr)
    return status


def _follow_input(part: Part) -> None:
    for line in sys.stdin:
        part.tell(line.strip())
    part.tell(None)


def main(args: Sequence[str] | None = None) -> int:
    """Run a part and return the exit status: 0, 1, or :data:`PERMANENT`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PARTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--watched", action="store_true", help="a supervisor holds the input")
    options = parser.parse_args(args)
    logging.basicConfig(level=logging.WARNING)

    def run() -> None:
        folder = RunFolder(options.folder)
        part = Part(options.name, folder, folder.run())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: part.stop())
        if options.watched:
            threading.Thread(target=_follow_input, args=(part,), daemon=True).start()
        run_part(part)

    return exit_status(run)


if __name__ == "__main__":
    sys.exit(main())
