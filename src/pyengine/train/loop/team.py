"""The learner's worker processes on this machine, one per device, which train one network.

The learner is the first process. It starts the others
(``python -m pyengine.train.loop.team FOLDER``) and sends them orders as lines of JSON on standard
input; PyTorch shares gradients and stop requests. If the first one crashes, their input ends, and
they exit.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pyengine.base.extras import need
from pyengine.data import Dataset
from pyengine.train.configs import LearnerConfig
from pyengine.train.loop.part import PERMANENT, exit_status
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder

if TYPE_CHECKING:
    from pyengine.train.learner import Learner
    from pyengine.train.log import StepReport

_LOOK_SECONDS = 0.5  # between two checks that the others are alive
_END_SECONDS = 60.0  # seconds the others have for a clean exit


def move_windows(data: Sequence[Dataset], games: Sequence[int]) -> None:
    """Move the windows of a run's data to the given numbers of newest games; reads new shards."""
    for dataset, count in zip(data, games, strict=True):
        dataset.set_window(count)


def windows_on(run: RunFile, folder: RunFolder, games: Sequence[int]) -> list[Dataset]:
    """Return the run's data: for each game the given number of newest games."""
    loss = run.train.loss
    return [
        Dataset(
            folder.data(name),
            window=count,
            full_only=run.window.full_only,
            reply=loss.reply_weight > 0,
            horizons=loss.target_horizons,
            surprise_weight=run.window.surprise_weight,
            final_board=loss.final_board,
        )
        for name, count in zip(run.game.name, games, strict=True)
    ]


def open_learner(
    run: RunFile,
    folder: RunFolder,
    data: Sequence[Dataset],
    on_progress: Callable[[StepReport], None] | None = None,
) -> Learner:
    """Return the run's learner, a context manager, which resumes from the last checkpoint."""
    learner: type[Learner] = need("pyengine.train.learner", "train").Learner
    return learner(
        run.train,
        data,
        folder.checkpoints,
        resume=True,
        weights=run.game.shares,
        on_progress=on_progress,
    )


class Team:
    """The other processes, as seen from the first; there may be none.

    Sets the environment of this process as torchrun does, until it exits. If another process
    crashes, this one exits, because it would wait for the other forever.

    Args:
        folder: of the run.
        config: contains the number of processes.
        games: for each game of the run, the number of newest games to start with.

    Raises:
        ConfigError: more processes than GPUs.

    """

    def __init__(self, folder: RunFolder, config: LearnerConfig, games: Sequence[int]) -> None:
        self._processes: list[subprocess.Popen[str]] = []
        self._over = threading.Event()
        if config.processes == 1:
            return
        _require_devices(config)
        shared = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(_free_port()),
            "WORLD_SIZE": str(config.processes),
        }
        for rank in range(1, config.processes):
            variables = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "pyengine.train.loop.team", str(folder.path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, **variables},
                    text=True,
                )
            )
        os.environ.update({**shared, "RANK": "0", "LOCAL_RANK": "0"})
        threading.Thread(target=self._watch, daemon=True).start()
        self.tell(games=list(games))

    @property
    def pids(self) -> list[int]:
        """The ids of all processes, this one first."""
        return [os.getpid(), *(process.pid for process in self._processes)]

    def tell(self, **order: Any) -> None:
        """Send an order: ``games``, the new window sizes; ``steps`` to run; ``end``."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()

    def end(self) -> None:
        """Send the last order."""
        self._over.set()
        self.tell(end=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for the others; after an error stop them."""
        self._over.set()
        deadline = time.monotonic() + (_END_SECONDS if error is None else 0.0)
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        """End this process if another one has crashed."""
        while not self._over.wait(_LOOK_SECONDS):
            for rank, process in enumerate(self._processes, 1):
                status = process.poll()
                if status is not None and not self._over.is_set():
                    print(
                        f"process {rank} of the learner exited with status {status}",
                        file=sys.stderr,
                    )
                    os._exit(PERMANENT if status == PERMANENT else 1)


def _require_devices(config: LearnerConfig) -> None:
    cuda = need("torch", "train").cuda
    if config.device != "cpu" and cuda.is_available() and cuda.device_count() < config.processes:
        expected = f"at most the number of GPUs, {cuda.device_count()}"
        config.refuse("processes", expected, config.processes)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _orders() -> queue.SimpleQueue[dict[str, Any]]:
    """Return a queue of orders; the process exits if the input ends without ``end``."""
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def follow() -> None:
        for line in sys.stdin:
            order = json.loads(line)
            orders.put(order)
            if "end" in order:
                return
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    return orders


def main(path: str) -> int:
    """Train with the others until the last order; return a part's exit status."""
    return exit_status(lambda: _train(path))


def _train(path: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the first process decides when to stop
    folder = RunFolder(Path(path))
    run, orders = folder.run(), _orders()
    data = windows_on(run, folder, orders.get()["games"])
    with open_learner(run, folder, data) as learner:
        while "end" not in (order := orders.get()):
            if "games" in order:
                move_windows(data, order["games"])
            if "steps" in order:
                learner.train(order["steps"], save=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
