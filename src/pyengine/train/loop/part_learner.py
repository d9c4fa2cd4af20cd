"""The learner's part: trains on the window and writes candidates at regular intervals."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyengine.base.extras import need
from pyengine.base.files import replacing, sha256_of
from pyengine.data import Dataset
from pyengine.eval.spec import planes_shape
from pyengine.train.errors import TrainingError
from pyengine.train.loop.part import Part
from pyengine.train.loop.played_copy import write_copy
from pyengine.train.loop.state import Best
from pyengine.train.loop.team import Team, move_windows, open_learner, windows_on

if TYPE_CHECKING:
    from pyengine.train.learner import Learner
    from pyengine.train.log import StepReport
    from pyengine.train.network import Network

_CHUNK = 50  # steps between two checks of the data
_LOOK_SECONDS = 10.0  # minimum time between two openings of the data
_LOOK_SHARE = 20.0  # relative to the duration of an opening
_CALIBRATION = 256  # positions, over all games


def work(part: Part) -> None:
    """Train until asked to stop; before finishing, write a candidate of the last step."""
    _first(part)
    positions = _Positions(part)
    while not positions.enough:
        if part.finishing:
            return
        part.publish({"step": 0, "state": "waits for positions"})
        part.wait()
    data = positions.open()
    with Team(part.folder, part.run.train.learner, positions.games) as team:
        training = _Training(part, positions, team)
        with open_learner(part.run, part.folder, data, training.add_to_status) as learner:
            training.run(learner)
            team.end()


class _Training:
    """The work of a learner: its steps, its candidates and its status."""

    def __init__(self, part: Part, positions: _Positions, team: Team) -> None:
        self._part, self._positions, self._team = part, positions, team
        self._status: dict[str, Any] = {"processes": team.pids}

    def add_to_status(self, report: StepReport) -> None:
        """Add a report of the learner to the status."""
        self._status |= asdict(report)

    def run(self, learner: Learner) -> None:
        """Train until asked to stop; before finishing, write a candidate of the last step."""
        self._publish(learner, now=True)
        if learner.step % self._part.run.gate.every_steps == 0:
            self._export(learner)  # a crash may have come between checkpoint and export
        while not self._part.finishing:
            self._learn(learner)
            self._publish(learner)
        learner.save()
        if not self._part.stopping:
            self._export(learner)
        self._publish(learner, now=True)

    def _learn(self, learner: Learner) -> None:
        """Run the next steps if the data allow them, or wait."""
        part, run = self._part, self._part.run
        if self._positions.due:
            learner.set_data(self._positions.open(), run.game.shares)
            self._team.tell(games=self._positions.games)
        allowed = run.window.allowed_steps(self._positions.total, run.train.learner.batch_size)
        if run.run.steps is not None:
            allowed = min(allowed, run.run.steps)
        every = run.gate.every_steps
        steps = min(_CHUNK, every - learner.step % every, allowed - learner.step)
        if steps <= 0:
            part.wait()
            return
        self._team.tell(steps=steps)
        learner.train(steps, stop=lambda: part.finishing, save=False)
        if learner.step % every == 0:
            learner.save()
            self._export(learner)

    def _publish(self, learner: Learner, *, now: bool = False) -> None:
        window = {"window": self._positions.size, "positions": self._positions.total}
        self._part.publish({**self._status, **window, "step": learner.step}, now=now)

    def _export(self, learner: Learner) -> None:
        """Write the candidate of this step, unless it exists or is not needed.

        If it cannot be written, the learner publishes the failure and continues.
        """
        part, folder = self._part, self._part.folder
        path = folder.candidate(learner.step)
        if learner.step == 0 or path.exists() or learner.step <= folder.evaluated():
            return
        games = folder.total(part.run).games
        facts = {"step": learner.step, "games": games, "positions": self._positions.total}
        failure = None
        try:
            if part.run.selfplay.precision == "float32":
                _write(part, learner.exported, path, facts)
            else:
                planes = self._positions.planes(learner.step)
                failure = _write_with_copy(part, learner.exported, path, facts, planes)
        except TrainingError as error:
            failure = str(error)
        self._status["failure"] = failure
        if failure is not None:
            print(failure, file=sys.stderr)  # recorded in the run's log


class _Positions:
    """The number of positions of all games, and the window on them."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._opened = self._took = 0.0
        self._data: list[Dataset] = []
        self._verified: set[tuple[Path, str]] = set()  # shards and their SHA-256
        self.games: list[int] = []  #: in the window, per game, at the last opening
        self.size = 0  #: positions in the window at the last opening

    @property
    def total(self) -> int:
        """The number of positions allowed for training."""
        return self._part.folder.counted(self._part.run)

    @property
    def enough(self) -> bool:
        """Whether there are enough positions to start."""
        names = self._part.run.game.name
        some = all(self._part.folder.produced(name).full > 0 for name in names)
        return some and self.total >= self._part.run.window.minimum_positions

    @property
    def due(self) -> bool:
        """Whether to check for new positions."""
        pause = max(_LOOK_SECONDS, _LOOK_SHARE * self._took)
        return time.monotonic() - self._opened > pause

    def open(self) -> list[Dataset]:
        """Return the window on the data, one Dataset per game; later calls move the same objects.

        Raises DataError for a damaged shard.
        """
        start = time.monotonic()
        run, folder = self._part.run, self._part.folder
        self.games = [self._games(name) for name in run.game.name]
        if self._data:
            move_windows(self._data, self.games)
        else:
            self._data = windows_on(run, folder, self.games)
        self._took = time.monotonic() - start
        self._verify()
        self.size = sum(map(len, self._data))
        self._opened = time.monotonic()
        return self._data

    def planes(self, seed: int) -> list[npt.NDArray[np.float32]]:
        """Return planes of random positions in the window, one float32[N,C,H,W] per game."""
        rng = np.random.default_rng(seed)
        size = max(1, _CALIBRATION // len(self._data))
        return [np.asarray(window.sample(size, rng)["planes"]) for window in self._data]

    def _games(self, name: str) -> int:
        config, produced = self._part.run.window, self._part.folder.produced(name)
        count = produced.full if config.full_only else produced.positions
        return config.games_of(produced.games, count)

    def _verify(self) -> None:
        """Check each shard against the manifest's SHA-256 once, before training on it."""
        pieces = {
            (piece.path, piece.shard.sha256): piece
            for window in self._data
            for piece in window.pieces
        }
        for key, piece in pieces.items():
            if key in self._verified:
                continue
            if self._part.stopping:
                return
            if self.size == 0:  # the whole window may take minutes
                self._part.publish({"step": 0, "state": f"verifies {piece.path.name}"})
            piece.verify()
        self._verified = set(pieces)


def _first(part: Part) -> None:
    """Record who plays the first games, if not yet known: the initial network, or an evaluator."""
    if part.folder.best() is not None:
        return
    first: str = part.run.selfplay.first
    sha256 = None
    if first == "random":
        game = part.run.games[0]
        planes, height, width = planes_shape(game, part.run.spec)
        network = need("pyengine.train.network", "train").new_network(
            part.run.train, planes, (height, width), game.num_distinct_actions()
        )
        path = part.folder.candidate(0)
        _write(part, network, path, {"step": 0, "games": 0, "positions": 0})
        first, sha256 = path.name, sha256_of(path)
    part.folder.set_best(Best(name=first, sha256=sha256, step=0, generation=0, elo=0.0))


def _write_with_copy(
    part: Part,
    network: Network,
    path: Path,
    facts: dict[str, Any],
    planes: list[npt.NDArray[np.float32]],
) -> str | None:
    """Write a candidate and its copy for playing; return why there is no copy.

    The copy is written first, since a candidate is used as soon as it exists.
    """
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        source = Path(folder, path.name)
        _write(part, network, source, facts)
        copied = part.folder.played_copy(facts["step"])
        copied.unlink(missing_ok=True)  # left by a killed writer
        precision = part.run.selfplay.precision
        failure = write_copy(precision, source, copied, planes, part.run.games)
        with replacing(path) as temporary:
            shutil.copyfile(source, temporary)
    return failure


def _write(part: Part, network: Network, path: Path, facts: dict[str, Any]) -> None:
    run = {"run": part.run.run.name, "seed": part.run.run.seed, "created": time.time()}
    network_config = {"network": part.run.train.network.to_dict()}
    need("pyengine.train.onnx_export", "train").export(
        network,
        part.run.games,
        part.run.spec,
        path,
        metadata={**run, **facts, **network_config},
        final_board=part.run.train.learner.export_final_board,
    )
