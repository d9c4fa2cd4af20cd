"""A part of a run as seen by its supervisor: restarted when it crashes, up to a limit."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from pyengine.train.errors import TrainingError
from pyengine.train.json_files import writing
from pyengine.train.loop.part import PERMANENT, Part, outcome, run_part
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder

_FORGET = 600.0  # seconds after which a restart no longer counts
_BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a restart
_TAIL = 1500  # characters kept of a part's last output


class Child(ABC):
    """A running part. Creating one starts it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._deaths: list[float] = []
        self._restart_at: float | None = None
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Start or restart it."""

    @abstractmethod
    def status(self) -> int | None:
        """Return None while it runs, then 0, 1, or :data:`PERMANENT`."""

    @abstractmethod
    def last_output(self) -> str:
        """Return the last lines it printed."""

    @abstractmethod
    def _tell(self, line: str | None) -> None:
        """Send a line; None: stop immediately. It may have exited."""

    @abstractmethod
    def end(self) -> None:
        """Kill it."""

    @property
    def restarts(self) -> int:
        """Number of crashes in the last ten minutes."""
        return len(self._deaths)

    def poll(self, restarts: int) -> bool:
        """Restart it if it has crashed and the delay is over; return whether it has finished.

        Raises TrainingError after repeated crashes.
        """
        now = time.monotonic()
        if self._restart_at is not None:
            if now >= self._restart_at:
                self._restart_at = None
                self._start()
            return False
        status = self.status()
        if status is None or status == 0:
            return status == 0
        self._deaths = [*(t for t in self._deaths if now - t < _FORGET), now]
        if status == PERMANENT or len(self._deaths) > restarts:
            raise self._failed(f"exit status {status}, {len(self._deaths) - 1} restarts")
        self._restart_at = now + _BACKOFF[min(len(self._deaths), len(_BACKOFF)) - 1]
        return False

    def tell(self, line: str | None) -> None:
        """Send a line; None: stop immediately."""
        self._restart_at = None
        self._tell(line)

    def check(self) -> None:
        """Raise TrainingError if it has failed."""
        status = self.status()
        if status:
            raise self._failed(f"exit status {status}, while the run ended")

    def _failed(self, how: str) -> TrainingError:
        output = self.last_output().strip()[-_TAIL:] or "it printed nothing"
        return TrainingError(f"the part {self.name} failed ({how}): {output}")


class ProcessChild(Child):
    """A part running as a process on this machine; it reads its settings from the folder."""

    def __init__(self, name: str, folder: RunFolder) -> None:
        self._folder = folder
        self._output = folder.log / f"{name}.err"
        super().__init__(name)

    def _start(self) -> None:
        module = "pyengine.train.loop.part"
        command = [sys.executable, "-m", module, self.name, str(self._folder.path), "--watched"]
        with writing(self._output):
            output = self._output.open("ab")
        with output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,  # Ctrl-C goes to the supervisor, which stops the parts
            )

    def status(self) -> int | None:
        return self._process.poll()

    def last_output(self) -> str:
        return self._output.read_text("utf-8", errors="replace")

    def _tell(self, line: str | None) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(BrokenPipeError):  # it has exited
            if pipe.closed:
                return
            if line is None:
                pipe.close()
            else:
                pipe.write(f"{line}\n".encode())
                pipe.flush()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


class ThreadChild(Child):
    """A part running as a thread of this process.

    ``work`` is its work function; None: that of its module.
    """

    def __init__(
        self,
        name: str,
        folder: RunFolder,
        run: RunFile,
        work: Callable[[Part], None] | None = None,
    ) -> None:
        self._folder, self._run, self._work = folder, run, work
        super().__init__(name)

    def _start(self) -> None:
        self._part = Part(self.name, self._folder, self._run)
        self._outcome = (1, "")
        self._thread = threading.Thread(target=self._run_part, args=(self._part,), daemon=True)
        self._thread.start()

    def _run_part(self, part: Part) -> None:
        self._outcome = outcome(lambda: run_part(part, self._work))

    def status(self) -> int | None:
        return None if self._thread.is_alive() else self._outcome[0]

    def last_output(self) -> str:
        return self._outcome[1]

    def _tell(self, line: str | None) -> None:
        self._part.tell(line)

    def end(self) -> None:
        """Ask it to stop; it ends with this process at the latest."""
        self._part.stop()
