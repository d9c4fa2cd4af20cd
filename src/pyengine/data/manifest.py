"""manifest.json: what a directory of shards holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of, unread, unwritten, why, write_durably
from pyengine.data.checked import OBJECT, SHA256, TEXT, check, list_of, one_of, real, text_of, whole
from pyengine.data.layout import Layout
from pyengine.data.record import GameLine
from pyengine.errors import ConfigError, DataError

__all__ = ["FORMAT", "MANIFEST", "Manifest", "ShardInfo", "games_name", "read_games", "shard_name"]

MANIFEST = "manifest.json"

#: Versions of the format that this code writes and reads: 4 where records have ``surprise``. Games
#: of 1 and 2 do not say whether they were cut short.
FORMAT, WITH_SURPRISE = 3, 4

_BIT_ORDER = "little"  # of a plane's points in its bytes

_COUNT = whole(0, 2**63 - 1)

#: What a manifest must say.
_FIELDS = {
    "layout": OBJECT,
    "bit_order": one_of(_BIT_ORDER),
    "configuration": OBJECT,
    "model_sha256": list_of(TEXT),
    "shards": list_of(OBJECT),
}

#: And of a shard.
_SHARD_FIELDS = {
    "file": text_of(r"shard-\d{6,}\.npy", "shard-NUMBER.npy"),
    "positions": _COUNT,
    "full": _COUNT,
    "games": _COUNT,
    "last_number": whole(-1, 2**32 - 1),
    "bytes": _COUNT,
    "sha256": SHA256,
    "games_sha256": SHA256,
    "created": real(-1e12, 1e12),
}


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"shard-{number:06d}.npy"


def games_name(shard: str) -> str:
    """Return the file name of the list of games beside a shard."""
    return shard.removesuffix(".npy") + ".games.jsonl"


@dataclass(frozen=True, kw_only=True)
class ShardInfo:
    """A shard in the manifest.

    Attributes:
        file: its name.
        positions: how many records it has.
        full: how many of them are of full searches.
        games: how many games.
        last_number: the largest number of a game in it.
        bytes: size of the file.
        sha256: of the file.
        games_sha256: of the list of games beside it.
        created: seconds since 1970, when it was closed.
    """

    file: str
    positions: int
    full: int
    games: int
    last_number: int
    bytes: int
    sha256: str
    games_sha256: str
    created: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str) -> ShardInfo:
        """Return a manifest's shard. Raises TypeError or ValueError saying what is wrong."""
        check(values, _SHARD_FIELDS, where)
        if values["full"] > values["positions"]:
            raise ValueError(f"{where}full: expected at most the positions, found {values['full']}")
        return cls(**values)


@dataclass(kw_only=True)
class Manifest:
    """What a directory of shards holds.

    Attributes:
        layout: game, spec, and the records' fields.
        configuration: of the search and the self-play, given by who made the data.
        model_sha256: networks that played, in the order of their use.
        shards: in the order of their making.
    """

    layout: Layout
    configuration: dict[str, Any] = field(default_factory=dict)
    model_sha256: list[str] = field(default_factory=list)
    shards: list[ShardInfo] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the text of the file."""
        values = {
            "format": _format_of(self.layout),
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
        """Replace the directory's manifest. Raises DataError and then leaves the old one."""
        file = path_of("directory", directory) / MANIFEST
        try:
            write_durably(file, [self.to_json().encode()])
        except OSError as error:
            raise DataError(unwritten(file, error)) from error

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """Return a directory's manifest, with what its log has got since.

        Raises:
            ConfigError: the directory has none.
            DataError: it is damaged, or of another version; says which file.

        """
        from pyengine.data.manifest_reader import ManifestReader  # which reads this

        return ManifestReader(path_of("directory", directory)).read()[0]

    @classmethod
    def read_alone(cls, directory: Path) -> Manifest:
        """Return what the file ``manifest.json`` says. Raises as :meth:`read`."""
        path = path_of("directory", directory) / MANIFEST
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls._from_dict(path, values)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ConfigError(f"expected a directory of training data, found no {path}") from error
        except OSError as error:  # a folder of that name, a link to itself
            raise DataError(unread(path, error)) from error
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{path} is damaged: {error!r}") from error

    @classmethod
    def _from_dict(cls, path: Path, values: Mapping[str, Any]) -> Manifest:
        check(values, {"format": whole(0, 2**31 - 1)})
        _require_format(path, values["format"], FORMAT, WITH_SURPRISE)
        check(values, _FIELDS)
        layout = Layout.from_dict(values["layout"])
        _require_format(path, values["format"], _format_of(layout))
        return cls(
            layout=layout,
            configuration=dict(values["configuration"]),
            model_sha256=list(values["model_sha256"]),
            shards=[
                ShardInfo.from_dict(shard, f"shards[{i}].")
                for i, shard in enumerate(values["shards"])
            ],
        )


def _format_of(layout: Layout) -> int:
    return WITH_SURPRISE if layout.surprise else FORMAT


def _require_format(path: Path, found: int, *expected: int) -> None:
    if found not in expected:
        raise DataError(f"{path}: expected format {' or '.join(map(str, expected))}, found {found}")


def read_games(path: Path) -> list[GameLine]:
    """Return a list of games. Raises DataError that names the file and the line."""
    games = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {why(error, path)}") from error
    for number, line in enumerate(lines, 1):
        try:
            games.append(GameLine.from_json(line))
        except ValueError as error:
            raise DataError(f"{path} is damaged: line {number}: {error}") from error
    return games
