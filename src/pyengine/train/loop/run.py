"""The training loop: a supervisor runs self-play, learner and gate as separate processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pyengine.base.files import path_of
from pyengine.errors import ConfigError, DataError
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line, lock, writing
from pyengine.train.loop.child import Child, ProcessChild
from pyengine.train.loop.curve import verdict
from pyengine.train.loop.meter import Meter
from pyengine.train.loop.part import PARTS
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best, RunFolder

_POLL = 0.25  # seconds
_CLOCK_SECONDS = 5.0  # between two writes of the clock
_METER_SECONDS = 120.0  # games end in bursts after a change of the network
_GRACE = 60.0  # seconds that a part has for a clean exit before it is killed

#: Starts a part by name in the folder of a run.
StartPart = Callable[[str, RunFolder], Child]


@dataclass(frozen=True, kw_only=True)
class ActorProgress:
    """The status of a self-play actor in a cluster.

    ``state`` is ``"plays"``, ``"held"`` (its games are not being received), ``"starts"``,
    ``"ended"``, or when it will restart.
    """

    name: str
    node: str  #: where it plays; empty before it does
    pid: int | None  #: of its process; None before it plays
    state: str
    games: int  #: delivered by it and its predecessors
    positions_per_second: float
    deaths: int  #: number of predecessors that crashed


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """The progress of a run; games and positions are those of self-play.

    The losses ``policy`` (nats) and ``value`` are None before the first step, ``best`` is None
    before there is a network.
    """

    seconds: float  #: total time of all sessions
    games: int
    positions: int
    positions_per_second: float  #: in the last two minutes
    step: int  #: of the learner
    policy: float | None
    value: float | None
    best: Best | None  #: the network used by self-play
    window: int  #: number of positions the learner samples from
    gate: str  #: status of the gate
    restarts: int  #: of parts that crashed
    finishing: bool  #: a limit is reached and the last candidate is being evaluated
    actors: tuple[ActorProgress, ...] = ()  #: in a cluster
    failure: str | None = None  #: why the learner's newest candidate could not be written
    usable: int = 0  #: positions that may be used for training
    samples_per_second: float = 0.0  #: of the learner, while it trains; 0 before it is known
    verdict: str = ""  #: the result of the newest candidate's match


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """How a run, or one session of it, ended.

    ``reason`` is the limit that was reached, ``"stopped"`` or ``"interrupted"``.
    """

    reason: str
    progress: RunProgress
    folder: Path
    ended_before: bool = False  #: whether the limit had been reached before this session

    @property
    def model(self) -> Path | None:
        """The best network's file; None if it has no file."""
        best = self.progress.best
        return None if best is None or not best.is_network else self.folder / "models" / best.name


def train_run(
    source: RunFile | str | Path | None,
    directory: str | os.PathLike[str],
    *,
    resume: bool = False,
    on_progress: Callable[[RunProgress], object] | None = None,
    start: StartPart = ProcessChild,
) -> RunReport:
    """Run the loop until a limit of ``[run]`` is reached.

    Args:
        source: the settings: a :class:`RunFile`, TOML text, or a file; None when resuming: the
            original settings. A resumed run may change only its name, limits, threads, learning
            rates by step, memory limits, and how much is kept (``docs/guides/training.md`` has the
            full list).
        directory: of the run.
        resume: continue the run there, or start one.
        on_progress: called four times a second, and once more when all parts have exited; False
            stops.
        start: starts a part, by default as a local process (see :mod:`pyengine.distributed`).

    Raises:
        ConfigError: invalid or changed settings, or a directory with other files, or with a run but
            without ``resume``.
        DataError: a file cannot be read or written.
        EngineError: another supervisor is running there.
        TrainingError: a part crashes repeatedly; the message contains its last output.
        KeyboardInterrupt: Ctrl-C, once all parts have exited cleanly; ``resume`` continues.

    """
    folder = RunFolder(path_of("directory", directory))
    settings = _settings(source, folder, resume)  # invalid settings leave no folder behind
    with writing(folder.path):
        folder.refuse_other_files()
    with lock(folder.lock("supervisor"), f"a run in {folder.path}"):
        _write_settings(settings, folder, resume)
        _forget_statuses(folder)
        return _Supervisor(settings, folder, on_progress, start).run()


def _settings(source: RunFile | str | Path | None, folder: RunFolder, resume: bool) -> RunFile:
    """Return the settings of the run; without a source, those it started with."""
    if source is not None:
        return source if isinstance(source, RunFile) else RunFile.from_toml(source)
    if not resume:
        raise ConfigError("expected a run file; only a resumed run needs none")
    return folder.run()


def _write_settings(run: RunFile, folder: RunFolder, resume: bool) -> None:
    """Begin a run in the folder, or give the one there its new settings."""
    with writing(folder.path / "run.toml"):
        if resume and folder.holds_run:
            run.refuse_changes(folder.run())
            folder.set_run(run)
        else:
            folder.begin(run)


def _forget_statuses(folder: RunFolder) -> None:
    """Remove status files of an earlier session, which may be outdated."""
    for name in PARTS:
        path = folder.path / "status" / f"{name}.json"
        with writing(path):
            path.unlink(missing_ok=True)


class _Supervisor:
    """Starts the parts, monitors them and the limits, and stops them."""

    def __init__(
        self,
        run: RunFile,
        folder: RunFolder,
        on_progress: Callable[[RunProgress], object] | None,
        start: StartPart,
    ) -> None:
        self._run = run
        self._start = start
        self._folder = folder
        self._on_progress = on_progress
        self._before = folder.seconds()
        self._begun = self._written = time.monotonic()
        self._meter = Meter(begun=self._begun, window=_METER_SECONDS)
        self._metered = folder.total(run).positions
        self._finishing = False
        self._children: list[Child] = []
        self._limit_before = self._limit_reached_before()

    def run(self) -> RunReport:
        """Run until a limit is reached and all parts have exited."""
        self._log("begins")
        try:
            reason = self._run_parts()
        except BaseException:
            with suppress(DataError):  # for example a full disk; the first error matters
                self._close("interrupted")
            raise
        self._close(reason)
        progress = replace(self._progress(), finishing=False)
        self._report(progress)
        return RunReport(
            reason=reason,
            progress=progress,
            folder=self._folder.path,
            ended_before=reason == self._limit_before,
        )

    def _run_parts(self) -> str:
        """Start the parts, wait for the end and stop them; return the reason."""
        try:
            for name in PARTS:  # if one cannot start, stop the others
                self._children.append(self._start(name, self._folder))
            reason = self._watch()
            if reason != "stopped":
                self._finish()
            return reason
        finally:
            self._stop()

    def _watch(self) -> str:
        """Wait for a limit and return its name, or "stopped"."""
        while True:
            for child in self._children:
                if child.poll(self._run.run.restarts):
                    raise TrainingError(f"the part {child.name} ended by itself")
            progress = self._progress()
            if not self._report(progress):
                return "stopped"
            reached = self._reached(progress)
            if reached is not None:
                return reached
            self._pause()

    def _report(self, progress: RunProgress) -> bool:
        """Call the callback; return whether the run continues."""
        return self._on_progress is None or self._on_progress(progress) is not False

    def _pause(self) -> None:
        """Sleep, and write the clock from time to time."""
        if time.monotonic() - self._written > _CLOCK_SECONDS:
            self._written = time.monotonic()
            with suppress(DataError):  # a full disk may have space the next time
                self._folder.set_seconds(self._seconds())
        time.sleep(_POLL)

    def _limit_reached_before(self) -> str | None:
        """Return the limit that earlier sessions reached.

        The step is that of the last candidate, since the learner has not published its own yet.
        """
        step = max([self._folder.evaluated(), *self._folder.candidates()])
        return self._reached(replace(self._progress(), seconds=self._before, step=step))

    def _reached(self, progress: RunProgress) -> str | None:
        limits = self._run.run
        generation = 0 if progress.best is None else progress.best.generation
        for name, reached, limit in (
            ("minutes", progress.seconds / 60, limits.minutes),
            ("games", progress.games, limits.games),
            ("steps", progress.step, limits.steps),
            ("generations", generation, limits.generations),
        ):
            if limit is not None and reached >= limit:
                return name
        return None

    def _progress(self) -> RunProgress:
        playing = self._folder.status("selfplay")
        learning = self._folder.status("learner")
        evaluating = self._folder.status("gate")
        produced = self._folder.total(self._run)
        now = time.monotonic()
        self._meter.add(now, produced.positions - self._metered)
        self._metered = produced.positions
        return RunProgress(
            seconds=self._seconds(),
            games=produced.games,
            positions=produced.positions,
            positions_per_second=self._meter.rate(now),
            step=int(learning.get("step", 0)),
            policy=learning.get("policy"),
            value=learning.get("value"),
            best=self._folder.best(),
            window=int(learning.get("window", 0)),
            gate=str(evaluating.get("state", "")),
            restarts=sum(child.restarts for child in self._children),
            finishing=self._finishing,
            actors=tuple(ActorProgress(**actor) for actor in playing.get("actors", ())),
            failure=learning.get("failure"),
            usable=self._folder.counted(self._run),
            samples_per_second=float(learning.get("positions_per_second", 0.0)),
            verdict=verdict(self._folder.evaluations(), self._run.selfplay.first),
        )

    def _finish(self) -> None:
        """Stop the parts in order, so that the last candidate is evaluated.

        Raises TrainingError, once all have exited, if one failed.
        """
        self._finishing = True
        for child in self._children:
            child.tell("finish")
            while child.status() is None:
                if not self._report(self._progress()):
                    return
                self._pause()
        for child in self._children:
            child.check()

    def _stop(self) -> None:
        """Ask all parts to stop and wait; another Ctrl-C kills them."""
        try:
            for child in self._children:
                child.tell(None)
            deadline = time.monotonic() + _GRACE
            while time.monotonic() < deadline and any(c.status() is None for c in self._children):
                time.sleep(_POLL / 5)
        finally:
            for child in self._children:
                child.end()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun

    def _close(self, reason: str) -> None:
        """Record how the session ended. Raises DataError."""
        self._folder.set_seconds(self._seconds())
        self._log(reason)

    def _log(self, event: str) -> None:
        line = {"time": time.time(), "event": event, "seconds": self._seconds()}
        append_line(self._folder.log / "run.jsonl", line)
