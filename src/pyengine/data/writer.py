"""ShardWriter: writes finished games as shards; a crash costs the open shard at most."""

from __future__ import annotations

import json
import math
import os
import re
import time
from typing import Any

import numpy as np

from pyengine.base.arguments import check_type, number, short_repr
from pyengine.base.files import TEMPORARY, path_of, unwritten, why, write_durably
from pyengine.base.integers import integer
from pyengine.base.locks import lock
from pyengine.data.layout import FULL_SEARCH, Layout, Rows
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
from pyengine.data.shards import inspect_shard
from pyengine.errors import ConfigError, DataError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, as_game

#: A shard closes before it would have more positions than this (a single game may have more).
MOST_POSITIONS = 4096

#: A shard closes so many seconds after its first game.
MOST_SECONDS = 10.0

_LOCK = ".lock"
_PLAYED_ON = 1000  # games that the core's measure of resignations keeps
_LOOKED_AT = 16_000  # games, of which those that were not played on say nothing
#: What a crash leaves of a file of a directory.
_LEFT_BEHIND = re.compile(
    rf"(shard-\d+\.(npy|games\.jsonl)|{re.escape(MANIFEST)})(\.[0-9a-f]+)?{re.escape(TEMPORARY)}"
)


class ShardWriter:
    """Writes finished games to a directory of shards.

    A game is in the open shard, in memory, at once. A shard that is full or 10 s old is written
    under a temporary name, synced and renamed, and then the manifest or a line of its log. So the
    directory opens with all shards that were closed, whenever the process or the machine dies.

    Args:
        directory: created if it does not exist. Else the writer continues after its last shard,
            takes in one that a crash kept out of the manifest, and removes temporary files.
        game, spec: of all games of the directory.
        configuration: plain values for the manifest; None keeps those of the last writer.
        model_sha256: of the network that plays from now on.
        surprise: whether the records have :attr:`FinishedGame.surprise`, by which
            :class:`~pyengine.Dataset` can draw (format 4).
        positions: a shard closes before it would have more, at least 1.
        seconds: a shard closes so long after its first game, at least 0.

    Raises:
        ConfigError: an argument does not fit, the directory has another game or spec (the message
            says which), or another writer is at work there.
        DataError: the directory is damaged, or cannot be written; says which file.

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
        if not (isinstance(seconds, float) and seconds == math.inf):  # never by time
            seconds = number("seconds", seconds, "a number of at least 0", lambda s: s >= 0)
        self._limits = integer("positions", positions, 1), seconds
        self.layout = Layout.of(as_game(game), spec, surprise=surprise)
        self._games: list[tuple[Rows, GameLine]] = []
        self._waiting = 0  # positions in the open shard
        self._begun = 0.0  # when its first game came, by time.monotonic()
        self._closed = False
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock = lock(self.directory / _LOCK)
        except OSError as error:
            raise DataError(unwritten(self.directory, error)) from error
        try:
            self._listing = ManifestWriter(self.directory, *self._open())
            if configuration is not None:
                self._listing.configure(configuration)
            self._listing.write()
            if model_sha256 is not None:
                self.set_model(model_sha256)
        except OSError as error:
            self._lock.release()
            raise DataError(unwritten(self.directory, error)) from error
        except BaseException:
            self._lock.release()
            raise

    @property
    def positions(self) -> int:
        """Positions in the directory and in the open shard."""
        return self._listing.positions + self._waiting

    @property
    def games(self) -> int:
        """Games in the directory and in the open shard."""
        return self._listing.games + len(self._games)

    @property
    def next_number(self) -> int:
        """One more than the largest number of a game; 0 if there is none."""
        last = self._listing.last_number
        return max([last, *(line.number for _, line in self._games)]) + 1

    @property
    def shards(self) -> tuple[ShardInfo, ...]:
        """The closed shards."""
        return tuple(self._listing.manifest.shards)

    def played_on(self) -> list[float]:
        """Return :attr:`FinishedGame.lowest` of the newest games, oldest first; 1,000 at most.

        Looks at 16,000 games at most, and stops at a list that is damaged or gone.
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
        """Take a game, which is on disk 10 s later at the latest.

        Raises:
            ConfigError: a column does not fit; the game is not taken.
            DataError: a shard cannot be written (a full disk); says which. This game and all
                before it are kept, and the next call tries again.

        """
        check_type("game", game, FinishedGame, "a FinishedGame")
        self.add_records(game.records(self.layout), game.line())

    def add_records(self, rows: Rows, line: GameLine) -> None:
        """Take a game as :meth:`add` does, given as records of the layout and its line."""
        assert (rows.dtype, len(rows)) == (self.layout.dtype, line.positions)
        if self._closed:
            raise ConfigError("the writer is closed")
        try:
            if self._games and self._waiting + len(rows) > self._limits[0]:
                self.flush()
        finally:
            if not self._games:
                self._begun = time.monotonic()
            self._games.append((rows, line))
            self._waiting += len(rows)
        self.tick()

    def tick(self) -> None:
        """Close the open shard if it is due. Call it every second or so. Raises DataError."""
        positions, seconds = self._limits
        if self._games and (
            self._waiting >= positions or time.monotonic() - self._begun >= seconds
        ):
            self.flush()

    def set_model(self, sha256: str) -> None:
        """Say which network plays from now on. Raises DataError."""
        check_type("sha256", sha256, str, "a str")
        self._listing.set_model(sha256)
        self._listing.write()

    def flush(self) -> None:
        """Close the open shard, if it has a game. Raises DataError, and then keeps all games."""
        if self._games:
            name = shard_name(len(self._listing.manifest.shards))
            try:
                info = self._write_shard(name)
            except OSError as error:
                raise DataError(
                    f"{self.directory / name} cannot be written: {why(error)}; its "
                    f"{len(self._games)} games are not on disk"
                ) from error
            self._listing.add(info)
            self._games, self._waiting = [], 0
        self._listing.write()

    def close(self) -> None:
        """Close the open shard and release the directory. Raises DataError; then try again."""
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
        """Write a list of games, then its shard, so that a shard always has a list."""
        rows = np.concatenate([rows for rows, _ in self._games])
        lines = "".join(line.to_json() for _, line in self._games).encode()
        _, games_sha = write_durably(self.directory / games_name(name), [lines])
        parts = [self.layout.header(len(rows)), rows.view(np.uint8)]
        size, sha = write_durably(self.directory / name, parts)
        return ShardInfo(
            file=name,
            positions=len(rows),
            full=int(np.count_nonzero(rows["flags"] & FULL_SEARCH)),
            games=len(self._games),
            last_number=max(line.number for _, line in self._games),
            bytes=size,
            sha256=sha,
            games_sha256=games_sha,
            created=time.time(),
        )

    def _open(self) -> tuple[Manifest, bool]:
        """Tidy up the directory; return its manifest and whether the file says less than that."""
        for left in self.directory.iterdir():
            if _LEFT_BEHIND.fullmatch(left.name):
                left.unlink()
        manifest = self._known()
        if manifest is None:
            self._refuse_unlisted(0)
            return Manifest(layout=self.layout), True
        known = len(manifest.shards)
        while (unlisted := self.directory / shard_name(len(manifest.shards))).exists():
            manifest.shards.append(inspect_shard(unlisted, self.layout))
        self._refuse_unlisted(len(manifest.shards))
        # A list whose shard never came.
        (self.directory / games_name(unlisted.name)).unlink(missing_ok=True)
        return manifest, len(manifest.shards) > known

    def _known(self) -> Manifest | None:
        """Return the manifest; None if there is none, or one of another layout without shards."""
        if not os.path.lexists(self.directory / MANIFEST):  # a link that leads nowhere is damage
            return None
        manifest = Manifest.read(self.directory)
        difference = manifest.layout.difference(self.layout)
        if difference is None:
            return manifest
        if not manifest.shards:
            return None
        if difference.startswith("surprise: "):
            has = "has" if manifest.layout.surprise else "lacks"
            raise ConfigError(
                f"{self.directory}: its data {has} surprise (record_surprise): write to another "
                "directory, or leave the setting as it was"
            )
        raise ConfigError(f"{self.directory} has data of another game or spec: {difference}")

    def _refuse_unlisted(self, known: int) -> None:
        """Refuse a shard that neither the manifest lists nor a crash explains."""
        listed = {shard_name(number) for number in range(known)}
        for path in sorted(self.directory.glob("shard-*.npy")):
            if path.name not in listed:
                manifest = self.directory / MANIFEST
                raise DataError(f"{path} is not in {manifest}, which lists {known} shards")


def _check_plain(name: str, value: Any) -> None:
    """Raise ConfigError unless an argument is a dict that JSON can hold."""
    check_type(name, value, dict, "a dict of plain values")
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{name}: expected plain values, got {short_repr(value)}: {error}"
        ) from error
