"""Writing finished games as shards; a crash loses at most the open shard."""

from __future__ import annotations

import json
import math
import os
import re
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from pyengine.base.checks import check_type, integer, number, short_repr
from pyengine.base.files import TEMPORARY, path_of, unwritten, write_durably
from pyengine.base.locks import lock
from pyengine.data.layout import Layout, Rows
from pyengine.data.manifest import (
    MANIFEST,
    Manifest,
    ManifestWriter,
    ShardInfo,
    games_name,
    read_games,
    shard_name,
)
from pyengine.data.record import FinishedGame, GameLine
from pyengine.data.shards import inspect_shard, shard_info
from pyengine.errors import ConfigError, DataError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, as_game

#: A shard is closed before it would exceed this number (a single longer game may exceed it).
MOST_POSITIONS = 4096

#: A shard is closed this many seconds after its first game.
MOST_SECONDS = 10.0

_LOCK = ".lock"
_PLAYED_ON = 1000  # games that the core needs to measure false resignations
_LOOKED_AT = 16_000  # maximum number of games examined to find them
#: Temporary files that a crash may leave behind.
_LEFT_BEHIND = re.compile(
    rf"(shard-\d+\.(npy|games\.jsonl)|{re.escape(MANIFEST)})"
    rf"\.pyengine-[0-9a-f]+{re.escape(TEMPORARY)}"
)


class ShardWriter:
    """Writes finished games to a directory of shards.

    Games are collected in memory in the open shard. When the shard is full or 10 s old, it is
    written under a temporary name, synced and renamed, and then the manifest or its log is updated.
    If the process or the machine dies, the directory still opens with all closed shards.

    Args:
        directory: created if missing. Otherwise the writer continues after the last shard, adds a
            complete shard that a crash left unlisted, and removes temporary files.
        game: the game of all shards in the directory.
        spec: the spec of all shards in the directory.
        configuration: JSON values for the manifest; None keeps those of the last writer.
        model_sha256: SHA-256 of the network that plays from now on.
        surprise: whether to record :attr:`FinishedGame.surprise`, which
            :class:`~pyengine.Dataset` can use for sampling (format 4).
        positions: a shard is closed before it would exceed this number, at least 1.
        seconds: a shard is closed this long after its first game, at least 0.

    Raises:
        ConfigError: an argument is invalid, the directory has another game or spec, or another
            writer is using it.
        DataError: the named file of the directory is damaged or cannot be written.

    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        game: Game,
        spec: ModelSpec,
        *,
        configuration: dict[str, Any] | None = None,
        model_sha256: str | None = None,
        surprise: bool = False,
        positions: int = MOST_POSITIONS,
        seconds: float = MOST_SECONDS,
    ) -> None:
        self.directory = path_of("directory", directory)
        check_type("model_sha256", model_sha256, str | None, "a str or None")
        if configuration is not None:
            _check_plain("configuration", configuration)
        if not (isinstance(seconds, float) and seconds == math.inf):  # inf: never close by time
            seconds = number("seconds", seconds, "a number of at least 0", lambda s: s >= 0)
        self._most_positions, self._most_seconds = integer("positions", positions, 1), seconds
        self.layout = Layout.of(as_game(game), spec, surprise=surprise)
        self._games: list[tuple[Rows, GameLine]] = []
        self._waiting = 0  # positions in the open shard
        self._begun = 0.0  # time.monotonic() at its first game
        self._closed = False
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock = lock(self.directory / _LOCK)
            with ExitStack() as on_error:
                on_error.callback(self._lock.release)
                self._listing = ManifestWriter(self.directory, *self._open())
                if configuration is not None:
                    self._listing.configure(configuration)
                self._listing.write()
                if model_sha256 is not None:
                    self.set_model(model_sha256)
                on_error.pop_all()
        except OSError as error:
            raise DataError(unwritten(self.directory, error)) from error

    @property
    def positions(self) -> int:
        """Number of positions, including the open shard."""
        return self._listing.positions + self._waiting

    @property
    def games(self) -> int:
        """Number of games, including the open shard."""
        return self._listing.games + len(self._games)

    @property
    def next_number(self) -> int:
        """Number for the next game: the largest so far plus 1, or 0."""
        last = self._listing.last_number
        return max([last, *(line.number for _, line in self._games)]) + 1

    @property
    def shards(self) -> tuple[ShardInfo, ...]:
        """The closed shards."""
        return tuple(self._listing.manifest.shards)

    def played_on(self) -> list[float]:
        """Return :attr:`FinishedGame.lowest` of the newest games that have it, oldest first.

        Returns at most 1,000 values from at most 16,000 games, and stops at a damaged or missing
        list of games.
        """
        lowest = [line.lowest for _, line in reversed(self._games) if line.lowest is not None]
        seen = len(self._games)
        for shard in reversed(self._listing.manifest.shards):
            if len(lowest) >= _PLAYED_ON or seen >= _LOOKED_AT:
                break
            try:
                lines = read_games(self.directory / games_name(shard.file))
            except DataError:
                break
            lowest += [line.lowest for line in reversed(lines) if line.lowest is not None]
            seen += len(lines)
        return lowest[:_PLAYED_ON][::-1]

    def add(self, game: FinishedGame) -> None:
        """Add a game, which is on disk at most 10 s later.

        Raises:
            ConfigError: a column does not fit; the game is not added.
            DataError: the named shard cannot be written, for example because the disk is full.
                This game and all before it stay in memory, and the next call tries again.

        """
        check_type("game", game, FinishedGame, "a FinishedGame")
        self.add_records(game.records(self.layout), game.line())

    def add_records(self, rows: Rows, line: GameLine) -> None:
        """Add a game like :meth:`add`, given as records of the layout and its line."""
        assert (rows.dtype, len(rows)) == (self.layout.dtype, line.positions)
        if self._closed:
            raise ConfigError("the writer is closed")
        try:
            if self._games and self._waiting + len(rows) > self._most_positions:
                self.flush()
        finally:
            if not self._games:
                self._begun = time.monotonic()
            self._games.append((rows, line))
            self._waiting += len(rows)
        self.tick()

    def tick(self) -> None:
        """Close the open shard if it is due. Call this about every second. Raises DataError."""
        is_full = self._waiting >= self._most_positions
        is_old = time.monotonic() - self._begun >= self._most_seconds
        if self._games and (is_full or is_old):
            self.flush()

    def set_model(self, sha256: str) -> None:
        """Set the network that plays from now on. Raises DataError."""
        check_type("sha256", sha256, str, "a str")
        self._listing.set_model(sha256)
        self._listing.write()

    def flush(self) -> None:
        """Close the open shard if it has games. On DataError the games stay in memory."""
        if self._games:
            name = shard_name(len(self._listing.manifest.shards))
            try:
                info = self._write_shard(name)
            except OSError as error:
                raise DataError(
                    f"{unwritten(self.directory / name, error)}; "
                    f"{len(self._games)} games are not on disk"
                ) from error
            self._listing.add(info)
            self._games, self._waiting = [], 0
        self._listing.write()

    def close(self) -> None:
        """Close the open shard and release the directory. May be called again after DataError."""
        if not self._closed:
            self.flush()
            self._listing.close()
            self._closed = True
            self._lock.release()

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.close()
        finally:
            self._lock.release()

    def _write_shard(self, name: str) -> ShardInfo:
        # The list of games is written first, so that every shard has one.
        rows = np.concatenate([rows for rows, _ in self._games])
        lines = [line for _, line in self._games]
        listing = "".join(line.to_json() for line in lines).encode()
        _, games_sha = write_durably(self.directory / games_name(name), [listing])
        parts = [self.layout.header(len(rows)), rows.view(np.uint8)]
        size, sha = write_durably(self.directory / name, parts)
        files = {"bytes": size, "sha256": sha, "games_sha256": games_sha, "created": time.time()}
        return shard_info(name, rows, lines, **files)

    def _open(self) -> tuple[Manifest, bool]:
        """Clean up the directory; return its manifest, and whether the file must be rewritten."""
        for path in self.directory.iterdir():
            if _LEFT_BEHIND.fullmatch(path.name):
                path.unlink()
        manifest = self._known()
        if manifest is None:
            self._refuse_unlisted(0)
            return Manifest(layout=self.layout), True
        known = len(manifest.shards)
        while (unlisted := self.directory / shard_name(len(manifest.shards))).exists():
            manifest.shards.append(inspect_shard(unlisted, self.layout))
        self._refuse_unlisted(len(manifest.shards))
        # A crash may have left a list of games without its shard.
        (self.directory / games_name(unlisted.name)).unlink(missing_ok=True)
        return manifest, len(manifest.shards) > known

    def _known(self) -> Manifest | None:
        """Return the manifest; None if it is missing, or has another layout but no shards."""
        if not os.path.lexists(self.directory / MANIFEST):  # a broken link is an error
            return None
        manifest = Manifest.read(self.directory)
        difference = manifest.layout.difference(self.layout)
        if difference is None:
            return manifest
        if not manifest.shards:
            return None
        if difference.startswith("surprise: "):
            verb = "records" if manifest.layout.surprise else "does not record"
            raise ConfigError(
                f"the data in {self.directory} {verb} surprise: use another directory, or set "
                f"record_surprise to {manifest.layout.surprise}"
            )
        raise ConfigError(f"{self.directory} has data of another game or spec: {difference}")

    def _refuse_unlisted(self, known: int) -> None:
        """Raise DataError for an unlisted shard that no crash explains."""
        listed = {shard_name(number) for number in range(known)}
        for path in sorted(self.directory.glob("shard-*.npy")):
            if path.name not in listed:
                manifest = self.directory / MANIFEST
                raise DataError(f"{path} is not in {manifest}, which lists {known} shards")


def _check_plain(name: str, value: Any) -> None:
    check_type(name, value, dict, "a dict of JSON values")
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{name}: expected JSON values, got {short_repr(value)}: {error}"
        ) from error
