"""A manifest with its log, read again and again as both grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyengine.data.checked import TEXT, check
from pyengine.data.manifest import MANIFEST, Manifest, ShardInfo, shard_name
from pyengine.data.manifest_log import log_name, read_log
from pyengine.errors import DataError

__all__ = ["ManifestReader"]


class ManifestReader:
    """Reads what a directory holds; what it has read of the log it does not read again.

    A copy (``copy.copy``) goes on from where the first one is.
    """

    def __init__(self, directory: Path) -> None:
        """Begin with nothing; :meth:`read` comes first."""
        self._directory = directory
        self._manifest: Manifest | None = None
        self._stamp: tuple[int, int, int] | None = None  # of manifest.json, when it was read
        self._log = ""  # name of the log
        self._end = 0  # of what was read of it

    def read(self) -> tuple[Manifest, int]:
        """Return the directory's manifest as it is now, and how many shards were known before.

        0 were known where the manifest was written anew. The manifest is another object where it
        has changed. Raises ConfigError and DataError as :meth:`Manifest.read` does.
        """
        while True:
            stamp = self._stamp_now()
            anew = self._manifest is None or stamp is None or stamp != self._stamp
            if anew:
                self._read_manifest(stamp)
            assert self._manifest is not None
            known = 0 if anew else len(self._manifest.shards)
            values, end = read_log(self._directory / self._log, self._end)
            if self._stamp_now() == stamp:  # else the log may be gone, which the manifest has now
                break
        if values:
            self._manifest = self._with(self._manifest, values)
            self._end = end
        return self._manifest, known

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            found = (self._directory / MANIFEST).stat()
        except OSError:  # the reading of it says why
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read_manifest(self, stamp: tuple[int, int, int] | None) -> None:
        found = Manifest.read_alone(self._directory)
        self._manifest, self._stamp = found, stamp
        self._log, self._end = log_name(len(found.shards), len(found.model_sha256)), 0

    def _with(self, manifest: Manifest, values: Sequence[Any]) -> Manifest:
        """Return the manifest with what lines of its log say."""
        shards, models = list(manifest.shards), list(manifest.model_sha256)
        try:
            for value in values:
                if "model_sha256" in value:
                    check(value, {"model_sha256": TEXT})
                    models.append(value["model_sha256"])
                    continue
                shard = ShardInfo.from_dict(value, f"shards[{len(shards)}].")
                if shard.file != shard_name(len(shards)):
                    raise ValueError(f"expected {shard_name(len(shards))}, found {shard.file}")
                shards.append(shard)
        except (TypeError, ValueError) as error:
            path = self._directory / self._log
            raise DataError(f"{path} is damaged: {error!r}") from error
        return replace(manifest, shards=shards, model_sha256=models)
