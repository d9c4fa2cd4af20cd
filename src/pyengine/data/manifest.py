"""manifest.json and its log: the contents of a directory of shards.

Writing a list of 100,000 shards for each new shard would take seconds, so a long manifest gets a
log with one line per shard. The log's name contains the number of shards and networks in the
manifest, so that a log left behind by a crash does not match a later manifest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of, sync_directory, unread, unwritten, why, write_durably
from pyengine.data.checked import (
    OBJECT,
    SHA256,
    TEXT,
    check,
    checked_by,
    checks_of,
    list_of,
    one_of,
    real,
    whole,
)
from pyengine.data.layout import Layout
from pyengine.data.record import GameLine
from pyengine.errors import ConfigError, DataError

MANIFEST = "manifest.json"

#: Versions of the format, without and with ``surprise`` in the records.
FORMAT, WITH_SURPRISE = 3, 4

_BIT_ORDER = "little"  # order of the points of a plane within a byte

#: The largest number of shards for which the manifest is rewritten instead of getting a log.
_WHOLE = 256

_COUNT = checked_by(whole(0, 2**63 - 1))
_DIGEST = checked_by(SHA256)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"shard-{number:06d}.npy"


def games_name(shard: str) -> str:
    """Return the file name of a shard's list of games."""
    return shard.removesuffix(".npy") + ".games.jsonl"


def read_games(path: Path) -> list[GameLine]:
    """Return the games in a list. Raises DataError with the file and the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {why(error, path)}") from error
    games = []
    for number, line in enumerate(lines, 1):
        try:
            games.append(GameLine.from_json(line))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is damaged: line {number}: {error}") from error
    return games


@dataclass(frozen=True, kw_only=True)
class ShardInfo:
    """A shard in the manifest."""

    file: str
    positions: int = field(metadata=_COUNT)
    full: int = field(metadata=_COUNT)  #: positions of full searches
    games: int = field(metadata=_COUNT)
    #: The largest game number in the shard; -1 without games.
    last_number: int = field(metadata=checked_by(whole(-1, 2**32 - 1)))
    bytes: int = field(metadata=_COUNT)
    sha256: str = field(metadata=_DIGEST)
    games_sha256: str = field(metadata=_DIGEST)  #: SHA-256 of the list of games
    created: float = field(metadata=checked_by(real(-1e12, 1e12)))  #: seconds since 1970

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], number: int) -> ShardInfo:
        """Return shard ``number`` of a manifest. Raises TypeError or ValueError if invalid."""
        file = one_of(shard_name(number))
        check(values, {"file": file, **_SHARD_CHECKS}, f"shards[{number}].")
        if values["full"] > values["positions"]:
            raise ValueError(f"shards[{number}].full: expected at most {values['positions']}")
        return cls(**values)


_SHARD_CHECKS = checks_of(ShardInfo)


@dataclass(kw_only=True)
class Manifest:
    """Contents of a directory of shards."""

    layout: Layout = field(metadata=checked_by(OBJECT))
    #: Any description of how the games were made, such as search settings.
    configuration: dict[str, Any] = field(default_factory=dict, metadata=checked_by(OBJECT))
    #: Networks, in order of use.
    model_sha256: list[str] = field(default_factory=list, metadata=checked_by(list_of(TEXT)))
    #: Oldest first.
    shards: list[ShardInfo] = field(default_factory=list, metadata=checked_by(list_of(OBJECT)))

    @property
    def log_name(self) -> str:
        """Name of the log for a file with these shards and networks."""
        return f"manifest-{len(self.shards):06d}-{len(self.model_sha256):06d}.log.jsonl"

    def to_json(self) -> str:
        """Return the contents of ``manifest.json``."""
        values = {
            "format": WITH_SURPRISE if self.layout.surprise else FORMAT,
            "layout": self.layout.to_dict(),
            "bit_order": _BIT_ORDER,
            "configuration": self.configuration,
            "model_sha256": self.model_sha256,
            "games": sum(shard.games for shard in self.shards),
            "positions": sum(shard.positions for shard in self.shards),
            "shards": [asdict(shard) for shard in self.shards],
        }
        return json.dumps(values, indent=1) + "\n"

    def write(self, directory: Path) -> None:
        """Replace the manifest of a directory. On DataError the old one is unchanged."""
        file = path_of("directory", directory) / MANIFEST
        try:
            write_durably(file, [self.to_json().encode()])
        except OSError as error:
            raise DataError(unwritten(file, error)) from error

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """Return the manifest of a directory, including its log.

        Raises ConfigError if there is no manifest, DataError if it or the log is damaged.
        """
        return ManifestReader(path_of("directory", directory)).manifest

    @classmethod
    def read_alone(cls, directory: Path) -> Manifest:
        """Return the manifest without its log. Raises like :meth:`read`."""
        path = directory / MANIFEST
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            check(values, {"format": whole(0, 2**31 - 1)})
            if values["format"] not in (FORMAT, WITH_SURPRISE):
                raise DataError(
                    f"{path} has format {values['format']}, but this version reads {FORMAT} and "
                    f"{WITH_SURPRISE}: use the version that wrote it, or generate the data again"
                )
            check(values, {"bit_order": one_of(_BIT_ORDER), **checks_of(cls)})
            layout = Layout.from_dict(values["layout"])
            if values["format"] != (WITH_SURPRISE if layout.surprise else FORMAT):
                raise ValueError("the format contradicts layout.surprise")
            shards = [ShardInfo.from_dict(shard, i) for i, shard in enumerate(values["shards"])]
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ConfigError(f"{path} does not exist: {directory} has no training data") from error
        except OSError as error:
            raise DataError(unread(path, error)) from error
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{path} is damaged: {error!r}") from error
        return cls(
            layout=layout,
            configuration=values["configuration"],
            model_sha256=values["model_sha256"],
            shards=shards,
        )


def logs_of(directory: Path) -> list[Path]:
    """Return all logs in a directory, including those that match no manifest."""
    return sorted(directory.glob("manifest-*.log.jsonl"))


def append_lines(path: Path, size: int, values: Sequence[Any]) -> int:
    """Append JSON lines to a log durably and return its new size.

    ``size`` is the valid size so far; anything after it is an incomplete line of a failed attempt.
    On OSError the log is unchanged.
    """
    content = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values).encode()
    is_new = not path.exists()
    with path.open("ab", buffering=0) as file:
        try:
            file.truncate(size)
            rest = memoryview(content)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(size)
            raise
    if is_new:
        sync_directory(path.parent)
    return size + len(content)


def read_log(path: Path, begin: int) -> tuple[list[Any], int]:
    """Return the complete lines of a log from an offset on, and the offset after them.

    A missing log counts as empty. Raises DataError for a line that is not JSON.
    """
    try:
        with path.open("rb") as file:
            file.seek(begin)
            content = file.read()
    except FileNotFoundError:
        return [], begin
    except OSError as error:
        raise DataError(unread(path, error)) from error
    content = content[: content.rfind(b"\n") + 1]
    try:
        values = [json.loads(line) for line in content.splitlines()]
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is damaged: {error!r}") from error
    return values, begin + len(content)


class ManifestReader:
    """A manifest and its log at one time.

    ``before`` is the same directory at an earlier time, whose lines are not read again. Raises
    ConfigError if there is no manifest, DataError if it or the log is damaged.
    """

    def __init__(self, directory: Path, before: ManifestReader | None = None) -> None:
        self._directory = directory
        while True:
            stamp = self._stamp_now()
            if before is None or stamp is None or stamp != before._stamp:
                manifest, known, end = Manifest.read_alone(directory), 0, 0
                log = manifest.log_name
            else:
                manifest, known, end = before.manifest, len(before.manifest.shards), before._end
                log = before._log
            values, end = read_log(directory / log, end)
            if self._stamp_now() == stamp:  # else the log may have been merged meanwhile
                break
        #: Identifies the manifest.json that was read.
        self._stamp: tuple[int, int, int] | None = stamp
        self._log: str = log  # file name
        self._end: int = end  # offset up to which the log was read
        #: A new object if it differs from that of ``before``.
        self.manifest: Manifest = self._with(manifest, values) if values else manifest
        #: Number of its shards that ``before`` has; 0 if the manifest was rewritten.
        self.known = known

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            stat = (self._directory / MANIFEST).stat()
        except OSError:  # reading the file reports it
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _with(self, manifest: Manifest, values: Sequence[Any]) -> Manifest:
        shards, models = list(manifest.shards), list(manifest.model_sha256)
        try:
            for value in values:
                if "model_sha256" in value:
                    check(value, {"model_sha256": TEXT})
                    models.append(value["model_sha256"])
                else:
                    shards.append(ShardInfo.from_dict(value, len(shards)))
        except (TypeError, ValueError, RecursionError) as error:
            path = self._directory / self._log
            raise DataError(f"{path} is damaged: {error!r}") from error
        return replace(manifest, shards=shards, model_sha256=models)


class ManifestWriter:
    """Maintains the manifest of a directory; the cost of adding a shard is constant.

    ``manifest`` is extended in place; ``stale`` says whether the file lacks some of it.
    """

    def __init__(self, directory: Path, manifest: Manifest, stale: bool) -> None:
        self.manifest = manifest
        self._directory = directory
        self._stale = stale or bool(logs_of(directory))
        self._log_size = 0
        self._unwritten: list[dict[str, Any]] = []  # lines in neither the file nor the log
        self._log = directory / manifest.log_name  # for the file as it is
        self.positions = sum(shard.positions for shard in manifest.shards)
        self.games = sum(shard.games for shard in manifest.shards)
        #: The largest number of a game; -1 without games.
        self.last_number = max((shard.last_number for shard in manifest.shards), default=-1)

    def configure(self, configuration: dict[str, Any]) -> None:
        """Set the configuration of the games from now on."""
        if configuration != self.manifest.configuration:
            self.manifest.configuration = configuration
            self._stale = True

    def add(self, shard: ShardInfo) -> None:
        """Add the next shard."""
        self.manifest.shards.append(shard)
        self.positions += shard.positions
        self.games += shard.games
        self.last_number = max(self.last_number, shard.last_number)
        self._unwritten.append(asdict(shard))

    def set_model(self, sha256: str) -> None:
        """Set the network that plays from now on."""
        if self.manifest.model_sha256[-1:] != [sha256]:
            self.manifest.model_sha256.append(sha256)
            self._unwritten.append({"model_sha256": sha256})

    def write(self) -> None:
        """Write all changes. Raises DataError; the next call tries again."""
        if self._stale or (self._unwritten and len(self.manifest.shards) <= _WHOLE):
            self._write_whole()
        elif self._unwritten:
            try:
                self._log_size = append_lines(self._log, self._log_size, self._unwritten)
            except OSError as error:
                raise DataError(unwritten(self._log, error)) from error
            self._unwritten = []

    def close(self) -> None:
        """Write all changes, and try to merge the log into the manifest."""
        self.write()
        if self._log_size > 0:
            with suppress(DataError):
                self._write_whole()

    def _write_whole(self) -> None:
        self.manifest.write(self._directory)
        for log in logs_of(self._directory):
            with suppress(OSError):  # it matches no manifest; the next writer removes it
                log.unlink()
        self._stale, self._unwritten = False, []
        self._log_size = 0
        self._log = self._directory / self.manifest.log_name
