"""A self-play actor: a thread plays, and calls of the driver are answered."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
import threading
import time
import traceback
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.base.files import write_durably
from pyengine.base.locks import lock
from pyengine.data import GameSink, Layout
from pyengine.distributed.outbox import Outbox, OutboxSink
from pyengine.distributed.packet import Packet
from pyengine.errors import ConfigError, DataError
from pyengine.train.loop import part_selfplay
from pyengine.train.loop.part import Part
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best, RunFolder

_NETWORKS = 3  # files on disk; one may be opened while the next arrives
_PREFIX = "pyengine-actor-"
_LOCK = ".lock"
_LOCK_DELAY = 60.0  # seconds in which a new folder may not be locked yet


@dataclass(frozen=True, kw_only=True)
class Contract:
    """The start arguments of an actor; plain values, as the actor may run another version."""

    version: str  #: of pyengine on the driver; the actor needs the same
    text: str  #: the run file
    seed: int  #: of the actor's games
    #: For each game of the run, FinishedGame.lowest of recent games, oldest first.
    played_on: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Order:
    """The arguments of a call of the driver."""

    acknowledged: int = 0  #: number of the last packet that the driver has
    best: Best | None = None  #: the network to play with; its file is sent once
    hold: bool = False  #: pause: the learner has enough positions
    finish: bool = False  #: end
    wait: float = 0.0  #: seconds to wait for a packet


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The answer of an actor."""

    packets: list[Packet]
    state: str  #: "starts", "plays", "held" or "ended"
    node: str  #: name of the machine
    pid: int  #: of the process
    network: str | None  #: the network that it has
    failed: str | None = None  #: traceback of the error that ended it
    permanent: bool = False  #: a new actor would fail too


class _ActorPart(Part):
    """Self-play in a folder that holds only networks; games go to the outbox."""

    def __init__(self, folder: RunFolder, run: RunFile, contract: Contract) -> None:
        super().__init__("selfplay", folder, run)
        self._played_on = contract.played_on
        config = run.distributed
        self.outbox = Outbox(config.delivery_seconds, config.backlog_megabytes * 1e6)
        self.hold = False

    @property
    def held(self) -> bool:
        return self.hold or self.outbox.full

    def open_sink(self, number: int, sha256: str | None) -> GameSink:
        surprise = self.run.selfplay_config(number).record_surprise
        layout = Layout.of(self.run.games[number], self.run.spec, surprise=surprise)
        played_on = self._played_on[number] if self._played_on else ()
        return OutboxSink(self.outbox, number, layout, played_on)

    def publish(self, values: dict[str, Any], *, now: bool = False) -> None:
        """Do nothing: the driver publishes the status of all actors."""


class Actor:
    """The class of Ray's actors; it does not depend on Ray."""

    def __init__(self, contract: Contract) -> None:
        """Start a thread that waits for a network and plays until it is told to end."""
        if contract.version != _core.__version__:
            raise ConfigError(
                f"{platform.node()}: expected pyengine {contract.version} as on the driver, "
                f"got {_core.__version__}"
            )
        self._scratch = Scratch()
        folder = RunFolder(self._scratch.path)
        run = _adapted(RunFile.from_toml(contract.text), contract.seed)
        folder.begin(run)
        self._part = _ActorPart(folder, run, contract)
        self._best: Best | None = None
        self._files: list[Path] = []  # networks, newest last
        self._failed: BaseException | None = None
        self._traceback: str | None = None
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def exchange(self, order: Order, network: bytes | None = None) -> Reply:
        """Follow an order and return the next packets.

        Args:
            order: from the driver.
            network: the file of ``order.best`` if the actor lacks it.

        """
        part = self._part
        part.hold = order.hold
        if order.best is not None and order.best != self._best:
            self._switch_network(order.best, network)
        if order.finish:
            part.finish()
        state = self._state()  # before take(): "ended" without packets is final
        packets = part.outbox.take(order.acknowledged, order.wait)
        if state == "ended" and not packets:
            self._scratch.close()
        return Reply(
            packets=packets,
            state=state,
            node=platform.node(),
            pid=os.getpid(),
            network=None if self._best is None else self._best.name,
            failed=self._traceback,
            permanent=isinstance(self._failed, ConfigError | DataError),
        )

    def _state(self) -> str:
        if not self._thread.is_alive():
            return "ended"
        if self._part.held:
            return "held"
        return "plays" if self._best is not None else "starts"

    def _switch_network(self, best: Best, network: bytes | None) -> None:
        """Switch to another network, once its file is written."""
        folder = self._part.folder
        if best.is_network and (self._best is None or best.name != self._best.name):
            if network is None or hashlib.sha256(network).hexdigest() != best.sha256:
                return  # the reply tells the driver
            write_durably(folder.models / best.name, [network])
            self._files.append(folder.models / best.name)
        folder.set_best(best)
        self._best = best
        while len(self._files) > _NETWORKS:
            self._files.pop(0).unlink()

    def _play(self) -> None:
        try:
            part_selfplay.work(self._part)
        except BaseException as error:
            self._failed = error
            self._traceback = traceback.format_exc()
        finally:
            self._part.outbox.close()


def _adapted(run: RunFile, seed: int) -> RunFile:
    """Return the run with the actor's seed; searches on all cores get the actor's CPUs instead."""
    selfplay = run.selfplay
    if run.selfplay_config(0).search.threads == 0:
        threads = max(1, int(run.distributed.cpus or 1))
        selfplay = selfplay.replace(search={**selfplay.search, "threads": threads})
    return run.limited(seed=seed).replace(selfplay=selfplay)


class Scratch:
    """A temporary folder that is removed on close or at exit.

    The next actor on the node removes the folder of a killed process, whose lock is free.
    """

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = lock(self.path / _LOCK)
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def close(self) -> None:
        self._lock.release()
        self._remove()


def _sweep() -> None:
    """Remove the folders of killed processes."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if time.time() - path.stat().st_mtime > _LOCK_DELAY and (path / _LOCK).exists():
                lock(path / _LOCK).release()
                shutil.rmtree(path, ignore_errors=True)
        except (OSError, ConfigError):  # belongs to another user, or is in use
            continue
