"""Reading and checking shard files."""

from __future__ import annotations

import importlib
import mmap
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.files import sha256_of, unread, why
from pyengine.data.layout import FULL_SEARCH, Layout, Rows
from pyengine.data.manifest import ShardInfo, games_name, read_games
from pyengine.data.record import GameLine
from pyengine.errors import DataError

#: Smallest limit on simultaneous maps; each needs a file descriptor.
_MAPPED = 256


def _most_maps() -> int:
    """Return a quarter of the limit on file descriptors: 256 of the usual 1,024."""
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # Windows
        return _MAPPED
    return max(_MAPPED, min(int(resource.getrlimit(resource.RLIMIT_NOFILE)[0]), 1 << 16) // 4)


class ShardMaps:
    """Memory maps of shards with one layout; the least recently used ones are dropped.

    Pickling leaves out the maps; a forked process may use those of its parent.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        #: ``rows(path, positions)`` returns the records of a shard, read-only. Raises DataError.
        self.rows = lru_cache(_most_maps())(partial(_mapped, layout, lru_cache(layout.header)))

    def __reduce__(self) -> Any:
        return ShardMaps, (self.layout,)


def _mapped(layout: Layout, header_of: Callable[[int], bytes], path: Path, positions: int) -> Rows:
    header = header_of(positions)
    size = len(header) + positions * layout.dtype.itemsize
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise DataError(unread(path, error)) from error
    except ValueError as error:  # an empty file
        raise DataError(f"{path} is damaged: {error}") from error
    if len(data) != size:
        raise DataError(f"{path} is damaged: expected {size} bytes, got {len(data)}")
    if data[: len(header)] != header:
        raise DataError(f"{path} is damaged: wrong header for {positions} records")
    return np.frombuffer(data, layout.dtype, positions, len(header))


def check_size(directory: Path, shard: ShardInfo) -> None:
    """Raise DataError unless the size of a shard matches the manifest."""
    path = directory / shard.file
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(f"{path} is missing: {why(error, path)}") from error
    if size != shard.bytes:
        raise DataError(f"{path} is damaged: expected {shard.bytes} bytes, got {size}")


def check_sha256(directory: Path, shard: ShardInfo) -> None:
    """Raise DataError unless a shard and its list of games have the SHA-256 in the manifest."""
    digests = ((shard.file, shard.sha256), (games_name(shard.file), shard.games_sha256))
    for name, expected in digests:
        path = directory / name
        try:
            actual = sha256_of(path)
        except OSError as error:
            raise DataError(unread(path, error)) from error
        if actual != expected:
            raise DataError(f"{path} is damaged: expected SHA-256 {expected}, got {actual}")


def inspect_shard(path: Path, layout: Layout) -> ShardInfo:
    """Return the manifest entry for a complete shard. Raises DataError."""
    listing = path.with_name(games_name(path.name))
    games = read_games(listing)
    rows = ShardMaps(layout).rows(path, sum(game.positions for game in games))
    numbers = np.repeat([game.number for game in games], [game.positions for game in games])
    if not np.array_equal(rows["game"], numbers):
        raise DataError(f"{path} is damaged: its games differ from those in {listing.name}")
    return shard_info(
        path.name,
        rows,
        games,
        bytes=path.stat().st_size,
        sha256=sha256_of(path),
        games_sha256=sha256_of(listing),
        created=path.stat().st_mtime,
    )


def shard_info(file: str, rows: Rows, games: Sequence[GameLine], **files: Any) -> ShardInfo:
    """Return the manifest entry for a shard; ``files`` are the fields that describe its files."""
    return ShardInfo(
        file=file,
        positions=len(rows),
        full=int(np.count_nonzero(rows["flags"] & FULL_SEARCH)),
        games=len(games),
        last_number=max((game.number for game in games), default=-1),
        **files,
    )
