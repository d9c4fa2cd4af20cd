"""What a directory holds, as its writer keeps it: in memory, and on disk as it grows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyengine.base.files import unwritten
from pyengine.data.manifest import Manifest, ShardInfo
from pyengine.data.manifest_log import append_lines, log_name, logs_of
from pyengine.errors import DataError

__all__ = ["ManifestWriter"]

#: A manifest of so many shards is written whole with each; one of more gets a log.
_WHOLE = 256


class ManifestWriter:
    """Keeps a directory's manifest current. What a shard costs does not grow with their number.

    Args:
        directory: that it is of.
        manifest: what the directory holds; it grows here.
        stale: whether the file says less than that.

    """

    def __init__(self, directory: Path, manifest: Manifest, stale: bool) -> None:
        """Count what there is. A log that an earlier writer left makes the file stale."""
        self.manifest = manifest
        self._directory = directory
        self._stale = stale or bool(logs_of(directory))
        self._log: Path | None = None  # that has lines
        self._log_size = 0
        self._news: list[dict[str, Any]] = []  # lines that are neither in the file nor in the log
        self._listed = len(manifest.shards), len(manifest.model_sha256)  # in the file
        self.positions = sum(shard.positions for shard in manifest.shards)  #: of all shards
        self.games = sum(shard.games for shard in manifest.shards)  #: of all shards
        #: The largest number of a game; -1 where there is none.
        self.last_number = max((shard.last_number for shard in manifest.shards), default=-1)

    def configure(self, configuration: dict[str, Any]) -> None:
        """Say how the games are made from now on."""
        if configuration != self.manifest.configuration:
            self.manifest.configuration = configuration
            self._stale = True

    def add(self, shard: ShardInfo) -> None:
        """Add the next shard."""
        self.manifest.shards.append(shard)
        self.positions += shard.positions
        self.games += shard.games
        self.last_number = max(self.last_number, shard.last_number)
        self._news.append(asdict(shard))

    def set_model(self, sha256: str) -> None:
        """Say which network plays from now on."""
        if self.manifest.model_sha256[-1:] != [sha256]:
            self.manifest.model_sha256.append(sha256)
            self._news.append({"model_sha256": sha256})

    def write(self) -> None:
        """Write what is new. Raises DataError; the next call tries it again."""
        if self._stale or (self._news and len(self.manifest.shards) <= _WHOLE):
            self._write_whole()
        elif self._news:
            self._append()

    def close(self) -> None:
        """Write what is new, and the log into the manifest; both say the same where that fails."""
        self.write()
        if self._log is not None:
            with suppress(DataError):
                self._write_whole()

    def _write_whole(self) -> None:
        self.manifest.write(self._directory)
        for log in logs_of(self._directory):
            with suppress(OSError):  # no manifest has its name any more; the next writer removes it
                log.unlink()
        self._stale, self._news = False, []
        self._log, self._log_size = None, 0
        self._listed = len(self.manifest.shards), len(self.manifest.model_sha256)

    def _append(self) -> None:
        log = self._directory / log_name(*self._listed)
        try:
            self._log_size = append_lines(log, self._log_size, self._news)
        except OSError as error:
            raise DataError(unwritten(log, error)) from error
        self._log, self._news = log, []
