"""What a self-play actor does: it plays in a thread of its own, and answers the driver."""

from __future__ import annotations

import hashlib
import os
import platform
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.base.files import write_durably
from pyengine.data import GameSink, Layout
from pyengine.distributed.outbox import Outbox
from pyengine.distributed.packet import Packet
from pyengine.distributed.scratch import Scratch
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import load_game
from pyengine.train.loop import part_selfplay
from pyengine.train.loop.parts import Part
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best, RunFolder

_KEPT = 3  # networks: one may be opened while the next comes


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What an actor is told once. Plain values, since it may come to another version of us."""

    version: str  #: of pyengine, which must be the actor's
    text: str  #: of the run file
    seed: int  #: of its games, in place of the run's
    threads: int  #: of its searches, where the run file says 0: all cores
    delivery_seconds: float
    backlog_bytes: float
    #: Of each game of the run FinishedGame.lowest of the newest games, oldest first.
    played_on: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the driver says each time that it asks."""

    acknowledged: int = 0  #: number of the last packet that it has
    best: Best | None = None  #: who plays from now on; its file comes with the order once
    hold: bool = False  #: pause: the learner has enough for the time being
    finish: bool = False  #: end; nothing more is played
    wait: float = 0.0  #: seconds that the answer may wait for a packet


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What an actor answers."""

    packets: list[Packet]
    state: str  #: "starts", "plays", "held" or "ended"
    node: str  #: name of its machine
    pid: int  #: of its process there
    network: str | None  #: whom it knows as the best
    said: dict[str, Any] = field(default_factory=dict)  #: what self-play says of itself
    failed: str | None = None  #: what ended it
    permanent: bool = False  #: would end another one as well


class _ActorPart(Part):
    """Self-play in a folder of its own, which holds networks alone: games go to the outbox."""

    def __init__(
        self,
        folder: RunFolder,
        run: RunFile,
        outbox: Outbox,
        played_on: tuple[tuple[float, ...], ...],
    ) -> None:
        super().__init__("selfplay", folder, run)
        self._played_on = played_on
        self.outbox = outbox
        self.hold = False
        self.said: dict[str, Any] = {}

    @property
    def held(self) -> bool:
        return self.hold or self.outbox.full

    def open_sink(self, game: str, configuration: dict[str, Any], sha256: str | None) -> GameSink:
        surprise = configuration["record_surprise"]
        layout = Layout.of(load_game(game), self.run.spec, surprise=surprise)
        number = self.run.game.name.index(game)
        known = self._played_on[number] if self._played_on else ()
        return self.outbox.sink(number, layout, known)

    def say(self, values: dict[str, Any], *, now: bool = False) -> None:
        self.said = values


class Actor:
    """The body of an actor; nothing of it knows Ray."""

    def __init__(self, contract: Contract) -> None:
        """Begin to wait for a network; then it plays until told to end."""
        if contract.version != _core.__version__:
            raise ConfigError(
                f"{platform.node()}: expected pyengine {contract.version}, as on the driver's "
                f"node, got {_core.__version__}"
            )
        self._scratch = Scratch()
        folder = RunFolder(self._scratch.path)
        run = _own(RunFile.from_toml(contract.text), contract)
        folder.begin(run)
        outbox = Outbox(contract.delivery_seconds, contract.backlog_bytes)
        self._part = _ActorPart(folder, run, outbox, contract.played_on)
        self._best: Best | None = None
        self._files: list[Path] = []  # of networks, the newest last
        self._failed: BaseException | None = None
        self._words: str | None = None
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def exchange(self, order: Order, network: bytes | None = None) -> Reply:
        """Obey, and hand over what was played.

        Args:
            order: what to do.
            network: the file of ``order.best``, when it is another one than last time.

        """
        part = self._part
        part.hold = order.hold
        if order.best is not None and order.best != self._best:
            self._follow(order.best, network)
        if order.finish:
            part.finish()
        state = self._state()  # before the packets are taken: "ended" with none means no more
        packets = part.outbox.take(order.acknowledged, order.wait)
        if state == "ended" and not packets:
            self._scratch.close()
        return Reply(
            packets=packets,
            state=state,
            node=platform.node(),
            pid=os.getpid(),
            network=None if self._best is None else self._best.name,
            said=part.said,
            failed=self._words,
            permanent=isinstance(self._failed, ConfigError | DataError),
        )

    def _state(self) -> str:
        if not self._thread.is_alive():
            return "ended"
        if self._part.held:
            return "held"
        return "plays" if self._best is not None else "starts"

    def _follow(self, best: Best, network: bytes | None) -> None:
        """Let another network play. It is named last, so that it has a file then."""
        folder = self._part.folder
        if best.is_network and (self._best is None or best.name != self._best.name):
            if network is None or hashlib.sha256(network).hexdigest() != best.sha256:
                return  # the answer shows that it has not come
            write_durably(folder.models / best.name, [network])
            self._files.append(folder.models / best.name)
        folder.set_best(best)
        self._best = best
        while len(self._files) > _KEPT:
            self._files.pop(0).unlink()

    def _play(self) -> None:
        try:
            part_selfplay.work(self._part)
        except BaseException as error:
            self._failed = error
            self._words = traceback.format_exc()
        finally:
            self._part.outbox.close()


def _own(run: RunFile, contract: Contract) -> RunFile:
    """Return the run with random numbers, and threads, of this actor's own."""
    selfplay = run.selfplay
    if run.selfplay_config(0).search.threads == 0:
        search = {**selfplay.search, "threads": contract.threads}
        selfplay = selfplay.replace(search=search)
    return run.limited(seed=contract.seed).replace(selfplay=selfplay)
