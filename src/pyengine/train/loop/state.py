"""The folder of a run and its files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyengine.base.files import TEMPORARY, path_of, replacing
from pyengine.data.checked import BOOLEAN, TEXT, check, optional, real, whole
from pyengine.data.manifest import MANIFEST, ManifestReader, ShardInfo
from pyengine.errors import ConfigError, DataError
from pyengine.train.json_files import read_json, read_lines, write_json
from pyengine.train.loop.runfile import RunFile, data_folder_name

_COUNT = whole(0, 2**63 - 1)

#: Keys of the best network's file, of a line of the curve, and of each match in it.
_BEST = {
    "name": TEXT,
    "sha256": optional(TEXT),
    "step": _COUNT,
    "generation": _COUNT,
    "elo": real(-1e6, 1e6),
}
_EVALUATION = {
    "step": _COUNT,
    "generation": _COUNT,
    "games": _COUNT,
    "elo": real(-1e6, 1e6),
    "accepted": BOOLEAN,
}
_OPPONENT = {"step": _COUNT, "wins": _COUNT, "draws": _COUNT, "losses": _COUNT}

# Files that may exist in a folder before a run starts: its own, and by suffix run files, settings,
# the command's output, and temporary files.
_OWN = (
    *("best.json", "clock.json", "curve.jsonl"),
    *("checkpoints", "data", "lock", "log", "models", "status"),
)
_BESIDE = (".toml", ".log", ".txt", TEMPORARY)
_CANDIDATE = re.compile(r"candidate-(\d{8})\.onnx")


@dataclass(frozen=True, kw_only=True)
class Best:
    """The network used by self-play."""

    name: str  #: file name in ``models``; or "uniform", "rollout"
    sha256: str | None  #: of the file
    step: int  #: training step
    generation: int  #: from 0, the player of the first games
    elo: float  #: relative to generation 0

    @property
    def is_network(self) -> bool:
        return self.sha256 is not None


@dataclass(frozen=True)
class Produced:
    """What self-play has written so far, in closed shards."""

    games: int = 0
    positions: int = 0
    full: int = 0  #: positions from full searches

    @classmethod
    def of(cls, shards: Sequence[ShardInfo]) -> Produced:
        games = sum(shard.games for shard in shards)
        positions = sum(shard.positions for shard in shards)
        return cls(games, positions, sum(shard.full for shard in shards))

    def __add__(self, other: Produced) -> Produced:
        return Produced(
            self.games + other.games, self.positions + other.positions, self.full + other.full
        )


class RunFolder:
    """The folder of a run.

    =========================  =================================================================
    ``run.toml``               the settings of this session
    ``best.json``              :class:`Best`
    ``data/GAME/``             shards of self-play
    ``models/``                ``candidate-STEP.onnx``, and ``candidate-STEP.copy.onnx``, its copy
    ``checkpoints/``           the learner's checkpoints and ``log.jsonl``
    ``curve.jsonl``            one line per evaluated candidate
    ``log/``                   ``run.jsonl``, ``PART.err``, games of unfinished matches
    ``status/PART.json``       the status of a part
    ``clock.json``             total time of all sessions
    ``lock/``                  lock files
    =========================  =================================================================
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path_of("path", path)
        self.models = self.path / "models"
        self.checkpoints = self.path / "checkpoints"
        self.log = self.path / "log"
        self.curve = self.path / "curve.jsonl"
        #: The last curve that was read, and the file it came from.
        self._evaluations: tuple[tuple[int, int, int] | None, list[dict[str, Any]]] = (None, [])
        self._known: dict[Path, tuple[ManifestReader | None, Produced]] = {}  # by data folder

    @property
    def holds_run(self) -> bool:
        """Whether a run has begun here."""
        return (self.path / "run.toml").exists()

    def begin(self, run: RunFile) -> None:
        """Create the folder for a run. Raises ConfigError if it already has one."""
        self.refuse_run()
        for folder in (self.path, self.models, self.log, self.path / "status"):
            folder.mkdir(parents=True, exist_ok=True)
        self.set_run(run)

    def refuse_run(self) -> None:
        """Raise ConfigError if the folder contains a run or unrelated files."""
        if self.holds_run:
            raise ConfigError(
                f"{self.path} already holds a run: resume it (--resume), or choose another "
                "directory (--directory)"
            )
        self.refuse_other_files()

    def refuse_other_files(self) -> None:
        """Raise ConfigError if the folder contains unrelated files."""
        if not self.path.is_dir() or self.holds_run:
            return
        for name in sorted(file.name for file in self.path.iterdir()):
            # Files that start with a dot belong to the system.
            if name in _OWN or name.startswith(".") or name.endswith(_BESIDE):
                continue
            raise ConfigError(
                f"{self.path} must be new, empty or hold a run (--directory); it has other files, "
                f"such as {name}"
            )

    def set_run(self, run: RunFile) -> None:
        """Write the settings."""
        with replacing(self.path / "run.toml") as part:
            part.write_text(run.text, "utf-8")

    def run(self) -> RunFile:
        """Return the settings. Raises ConfigError if there is no run."""
        if not self.holds_run:
            raise ConfigError(f"{self.path / 'run.toml'} does not exist")
        return RunFile.from_toml(self.path / "run.toml")

    def lock(self, name: str) -> Path:
        """Return the lock file of a part or the supervisor."""
        return self.path / "lock" / name

    def data(self, game: str) -> Path:
        """Return the folder of a game's shards."""
        return self.path / "data" / data_folder_name(game)

    def produced(self, game: str) -> Produced:
        """Return the amount of data of a game; reads only new parts of the manifest."""
        path = self.data(game)
        if not (path / MANIFEST).exists():
            return Produced()
        before, total = self._known.get(path, (None, Produced()))
        reader = ManifestReader(path, before)
        if reader.known == 0:
            total = Produced()
        total += Produced.of(reader.manifest.shards[reader.known :])
        self._known[path] = reader, total
        return total

    def total(self, run: RunFile) -> Produced:
        """Return the amount of data of all games."""
        return sum((self.produced(name) for name in run.game.name), Produced())

    def counted(self, run: RunFile) -> int:
        """Return how many positions of all games may be used for training."""
        total = self.total(run)
        return total.full if run.window.full_only else total.positions

    def best(self) -> Best | None:
        """Return the best network; None before there is one. Raises DataError."""
        path = self.path / "best.json"
        values = read_json(path)
        if values is None:
            return None
        with _damage_named(path):
            check(values, _BEST)
            return Best(**values)

    def set_best(self, best: Best) -> None:
        """Replace the best network."""
        write_json(self.path / "best.json", asdict(best))

    def candidate(self, step: int) -> Path:
        """Return the file of a step's network."""
        return self.models / f"candidate-{step:08d}.onnx"

    def played_copy(self, step: int) -> Path:
        """Return the file of the copy of a step's network for playing, which may not exist."""
        return self.candidate(step).with_suffix(".copy.onnx")

    def played(self, step: int) -> Path:
        """Return the file used for playing a step's network: the copy if there is one."""
        copied = self.played_copy(step)
        return copied if copied.exists() else self.candidate(step)

    def remove_candidate(self, step: int) -> None:
        """Remove a step's network files; the copy first, since it is found through the network."""
        self.played_copy(step).unlink(missing_ok=True)
        self.candidate(step).unlink(missing_ok=True)

    def candidates(self) -> list[int]:
        """Return the steps of the networks' files, in order."""
        if not self.models.is_dir():
            return []
        names = (_CANDIDATE.fullmatch(path.name) for path in self.models.iterdir())
        return sorted(int(match[1]) for match in names if match)

    def evaluated(self) -> int:
        """Return the step of the last evaluated candidate in the curve; 0 before the first."""
        return max((line["step"] for line in self.evaluations()), default=0)

    def evaluations(self) -> list[dict[str, Any]]:
        """Return the lines of the curve. Raises DataError if one is damaged."""
        try:
            file = self.curve.stat()
            stamp = file.st_ino, file.st_mtime_ns, file.st_size
        except OSError:  # reading it raises the error
            stamp = None
        if stamp is None or stamp != self._evaluations[0]:
            self._evaluations = stamp, self._read_curve()
        return list(self._evaluations[1])

    def _read_curve(self) -> list[dict[str, Any]]:
        lines = read_lines(self.curve)
        with _damage_named(self.curve):
            for line in lines:
                check(line, _EVALUATION)
                for kind in ("opponents", "anchors"):
                    for number, opponent in enumerate(line.get(kind, ())):
                        check(opponent, _OPPONENT, f"{kind}[{number}].")
        return lines

    def set_status(self, part: str, values: dict[str, Any]) -> None:
        """Publish a part's status. Raises DataError."""
        _replace(self.path / "status" / f"{part}.json", values)

    def status(self, part: str) -> dict[str, Any]:
        """Return a part's last status."""
        try:
            status = read_json(self.path / "status" / f"{part}.json")
        except DataError:
            return {}
        return status if isinstance(status, dict) else {}

    def seconds(self) -> float:
        """Return the run's total time over all sessions. Raises DataError."""
        path = self.path / "clock.json"
        clock = read_json(path)
        if clock is None:
            return 0.0
        with _damage_named(path):
            check(clock, {"seconds": real(0, 1e12)})
        return float(clock["seconds"])

    def set_seconds(self, seconds: float) -> None:
        """Write the run's total time. Raises DataError."""
        _replace(self.path / "clock.json", {"seconds": round(seconds, 3)})


def _replace(path: Path, values: dict[str, Any]) -> None:
    """Replace a frequently written file without syncing, which may be slow."""
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(values), "utf-8")


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Convert an error in a file's content to a DataError that names the file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged: {error}") from error
