"""The loop: self-play, learner and gate as processes of their own, watched by a supervisor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of
from pyengine.errors import ConfigError, DataError
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line, lock, writing
from pyengine.train.loop.child import Child, ProcessChild
from pyengine.train.loop.parts import PARTS
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best, RunFolder

_POLL = 0.25  # seconds
_CLOCK_SECONDS = 5.0  # between two writings of the clock
_GRACE = 60.0  # seconds that a part has for a clean end, before it is ended

#: Starts a part, by its name, in the folder of a run.
StartPart = Callable[[str, RunFolder, RunFile], Child]


@dataclass(frozen=True, kw_only=True)
class ActorProgress:
    """What a self-play actor of a cluster is doing.

    Attributes:
        name: of the actor.
        node: where it plays; empty before it does.
        pid: of its process there; None before.
        state: ``"plays"``, ``"held"`` (its games are not taken), ``"starts"``, ``"ended"``, or when
            it starts again.
        games: delivered by it and those that it replaced.
        positions_per_second: that it plays.
        deaths: of those that it replaced.
    """

    name: str
    node: str
    pid: int | None
    state: str
    games: int
    positions_per_second: float
    deaths: int


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """How far a run is.

    Attributes:
        seconds: of all sittings.
        games: of self-play.
        positions: of self-play.
        positions_per_second: of self-play, in this sitting.
        step: of the learner.
        policy: loss of the learner's policy, nats; None before the first step.
        value: loss of the learner's value; None before the first step.
        best: the network with which self-play plays; None before there is one.
        window: positions that the learner draws from.
        gate: what the gate is doing.
        restarts: of parts that died.
        finishing: whether a limit is reached and the last candidate is being evaluated.
        actors: of a run on a cluster.
        failure: why the learner's newest candidate could not be written; None where it could.
    """

    seconds: float
    games: int
    positions: int
    positions_per_second: float
    step: int
    policy: float | None
    value: float | None
    best: Best | None
    window: int
    gate: str
    restarts: int
    finishing: bool
    actors: tuple[ActorProgress, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """How a run, or a sitting of it, ended.

    Attributes:
        reason: the limit that was reached, ``"stopped"`` or ``"interrupted"``.
        progress: how far the run is.
        folder: of the run.
        ended_before: whether that limit was reached before this sitting began.
    """

    reason: str
    progress: RunProgress
    folder: Path
    ended_before: bool = False

    @property
    def model(self) -> Path | None:
        """The best network's file; None where it is no file."""
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
        source: the settings: a :class:`RunFile`, TOML text, or a file; None, to resume: as it
            began. A run that goes on keeps its settings except its name, limits, threads, the
            rates of its schedule in steps, the room of trees and caches, and how much is kept
            (all of them: ``docs/guides/training.md``).
        directory: of the run.
        resume: go on with the run there, or begin if there is none.
        on_progress: called four times a second, and once more when all parts have ended; False
            stops.
        start: starts a part, by default as a process here (see :mod:`pyengine.distributed`).

    Raises:
        ConfigError: settings that are wrong or changed; a directory with a run, without resume, or
            with other files.
        DataError: a file cannot be read or written; it is named.
        EngineError: another supervisor is at work there.
        TrainingError: a part keeps dying; its last words are in the message.
        KeyboardInterrupt: Ctrl-C, when all parts have ended cleanly; ``resume`` goes on.

    """
    folder = RunFolder(path_of("directory", directory))
    given = _given(source, folder, resume)  # wrong settings leave no folder
    with writing(folder.path):
        folder.refuse_other_files()
    with lock(folder.lock("supervisor"), f"a run in {folder.path}"):
        run = _prepared(given, folder, resume)
        _forget_statuses(folder)
        return _Supervisor(run, folder, on_progress, start).run()


def _given(source: RunFile | str | Path | None, folder: RunFolder, resume: bool) -> RunFile:
    """Return the settings of the run; without a source, those that it began with."""
    if source is not None:
        return source if isinstance(source, RunFile) else RunFile.from_toml(source)
    if not resume:
        raise ConfigError("expected a run file; without one only resume is possible")
    return folder.run()


def _prepared(run: RunFile, folder: RunFolder, resume: bool) -> RunFile:
    """Make the folder of the run, and return its settings."""
    begun = (folder.path / "run.toml").exists()
    if resume and begun:
        run.refuse_changes(folder.run())
    with writing(folder.path / "run.toml"):
        if resume and begun:
            folder.set_run(run)
        else:
            folder.begin(run)
    return run


def _forget_statuses(folder: RunFolder) -> None:
    """Remove what the parts published in an earlier sitting, which may no longer hold."""
    for name in PARTS:
        path = folder.path / "status" / f"{name}.json"
        with writing(path):
            path.unlink(missing_ok=True)


def _of_gate(evaluating: Mapping[str, Any]) -> str:
    """Describe a match of the gate: games, how many are expected, score."""
    text = f"step {evaluating['step']}: {evaluating['games']} of {evaluating['most_games']} games"
    if "expected_games" in evaluating:
        text += f" (SPRT, {evaluating['expected_games']} expected)"
    return text if evaluating["score"] is None else f"{text}, {evaluating['score']:.0%}"


class _Supervisor:
    """Starts the parts, watches them and the limits, ends them."""

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
        self._finishing = False
        self._children: list[Child] = []
        self._limit_before = self._limit_reached_before()

    def run(self) -> RunReport:
        """Run until a limit; all parts have ended then."""
        self._note("begins")
        try:
            try:
                for name in PARTS:  # one that cannot start leaves none behind
                    self._children.append(self._start(name, self._folder, self._run))
                reason = self._watch()
                if reason != "stopped":
                    self._finish()
            finally:
                self._stop()
        except BaseException:
            with suppress(DataError):  # of a full disk; the first error matters
                self._close("interrupted")
            raise
        self._close(reason)
        progress = replace(self._progress(), finishing=False)
        if self._on_progress is not None:
            self._on_progress(progress)
        return RunReport(
            reason=reason,
            progress=progress,
            folder=self._folder.path,
            ended_before=reason == self._limit_before,
        )

    def _watch(self) -> str:
        """Wait for a limit and return its name, or "stopped"."""
        while True:
            for child in self._children:
                if child.poll(self._run.run.restarts):
                    raise TrainingError(f"the part {child.name} ended by itself")
            progress = self._show()
            if progress is None:
                return "stopped"
            reached = self._reached(progress)
            if reached is not None:
                return reached
            time.sleep(_POLL)

    def _show(self) -> RunProgress | None:
        """Report; None when the callback ends the run."""
        progress = self._progress()
        if time.monotonic() - self._written > _CLOCK_SECONDS:
            self._written = time.monotonic()
            with suppress(DataError):  # a disk that is full may have room the next time
                self._write_clock()
        answer = None if self._on_progress is None else self._on_progress(progress)
        return None if answer is False else progress

    def _limit_reached_before(self) -> str | None:
        """Return the limit that earlier sittings have reached.

        The step is that of the last candidate: the learner has not published its own yet.
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
        produced = [self._folder.produced(name) for name in self._run.game.name]
        gate = str(evaluating.get("state", ""))
        if gate == "evaluates":
            gate = _of_gate(evaluating)
        return RunProgress(
            seconds=self._seconds(),
            games=sum(each.games for each in produced),
            positions=sum(each.positions for each in produced),
            positions_per_second=float(playing.get("positions_per_second", 0.0)),
            step=int(learning.get("step", 0)),
            policy=learning.get("policy"),
            value=learning.get("value"),
            best=self._folder.best(),
            window=int(learning.get("window", 0)),
            gate=gate,
            restarts=sum(child.restarts for child in self._children),
            finishing=self._finishing,
            actors=tuple(ActorProgress(**each) for each in playing.get("actors", ())),
            failure=learning.get("failure"),
        )

    def _finish(self) -> None:
        """End the parts one after the other, so that the last candidate is evaluated.

        Raises TrainingError if one failed, when all have ended.
        """
        self._finishing = True
        for child in self._children:
            child.tell("finish")
            while not child.ended():
                if self._show() is None:
                    return
                time.sleep(_POLL)
        for child in self._children:
            child.check()

    def _stop(self) -> None:
        """Ask all parts to stop and wait; another Ctrl-C ends them at once."""
        try:
            for child in self._children:
                child.tell(None)
            deadline = time.monotonic() + _GRACE
            while time.monotonic() < deadline and not self._all_ended():
                time.sleep(_POLL / 5)
        finally:
            for child in self._children:
                child.end()

    def _all_ended(self) -> bool:
        return all(child.ended() for child in self._children)

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun

    def _close(self, reason: str) -> None:
        """Write how the sitting ended. Raises DataError."""
        self._write_clock()
        self._note(reason)

    def _write_clock(self) -> None:
        with writing(self._folder.path / "clock.json"):
            self._folder.set_seconds(self._seconds())

    def _note(self, event: str) -> None:
        values: dict[str, Any] = {"time": time.time(), "event": event}
        append_line(self._folder.log / "run.jsonl", {**values, "seconds": self._seconds()})
