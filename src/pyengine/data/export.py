"""Export of shards to other formats: npz, Parquet, SGF."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyengine.base.checks import check_callback, check_choice, check_flag, elements, integer
from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing, unwritten
from pyengine.data.layout import FULL_SEARCH, Layout, Rows
from pyengine.data.manifest import Manifest
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.record import GameLine
from pyengine.data.sgf.collection import grammar
from pyengine.data.sgf.record import check_in_sgf
from pyengine.data.sgf.write import write_sgf
from pyengine.data.shards import ShardMaps, check_sha256
from pyengine.data.unpack import Batch, Unpacker
from pyengine.data.window import Piece, Source, newest
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import Game, State

#: Rows unpacked at a time, and the size of a Parquet row group.
_ROWS = 1024
_SHOWN = 3  # moves in a comment


def convert(
    directory: str | os.PathLike[str],
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Convert each shard of a directory to a file for other tools, and return the files.

    The files contain all positions in the format of :class:`Dataset` without augmentation: planes
    and policies in the order of the spec, both float32, and the columns with one number per
    position.

    Args:
        directory: directory of shards.
        to: ``"npz"`` (compressed) or ``"parquet"`` (zstd; planes and policy are lists of fixed
            size, and the shape of the planes is in the metadata key ``pyengine.planes``; needs the
            extra ``parquet``).
        out: directory to write to; by default ``DIRECTORY-npz`` or ``DIRECTORY-parquet``.
        overwrite: allow an output directory with files, and replace them.
        on_progress: called with the numbers of shards done and in total; by default a terminal
            shows them.

    Raises:
        ConfigError: the format is unknown, or ``out`` has files.
        DataError: the named shard is damaged, or the named file cannot be written, for example
            because the disk is full. Complete files stay, an incomplete one is removed.
        EngineError: a package is missing; the message names the extra.

    Example:
        >>> import pyengine
        >>> config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=20))
        >>> _ = pyengine.selfplay("tic_tac_toe", "uniform", games=8, out="data", config=config)
        >>> [file.name for file in pyengine.convert("data", "npz", on_progress=lambda *_: None)]
        ['shard-000000.npz']
    """
    writers = {"npz": _write_npz, "parquet": _write_parquet}
    check_callback("on_progress", on_progress)
    check_flag("overwrite", overwrite)
    check_choice("to", to, writers)
    if to == "parquet":
        need("pyarrow.parquet", "parquet")
    source = path_of("directory", directory)
    manifest = Manifest.read(source)
    target = fresh_directory(out, source, to, overwrite)
    unpacker, maps = Unpacker(manifest.layout), ShardMaps(manifest.layout)
    files = []
    for shard in tracked(manifest.shards, len(manifest.shards), f"{to} files", on_progress):
        check_sha256(source, shard)
        path = target / Path(shard.file).with_suffix(f".{to}")
        rows = maps.rows(source / shard.file, shard.positions)
        starts = range(0, max(len(rows), 1), _ROWS)  # an empty shard has one empty batch
        batches = [unpacker.batch(rows[start : start + _ROWS]) for start in starts]
        with replacing(path) as temporary:
            writers[to](temporary, manifest.layout, batches)
        files.append(path)
    return files


def fresh_directory(
    out: str | os.PathLike[str] | None, source: Path, suffix: str, overwrite: bool
) -> Path:
    """Create the output directory. Raises ConfigError if it has files, or DataError."""
    absolute = source.absolute()
    if out is None and not absolute.name:
        raise ConfigError(f"out: expected a directory to write to, since {absolute} has no name")
    target = path_of("out", out) if out is not None else Path(f"{absolute}-{suffix}")
    try:
        target.mkdir(parents=True, exist_ok=True)
        filled = any(target.iterdir())
    except OSError as error:
        raise DataError(unwritten(target, error)) from error
    if filled and not overwrite:
        raise ConfigError(
            f"{target} has files: choose a new directory, or use overwrite=True (--overwrite)"
        )
    return target


def _write_npz(path: Path, _layout: Layout, batches: list[Batch]) -> None:
    columns = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    with path.open("wb") as file:
        np.savez_compressed(file, **columns)  # type: ignore[arg-type]


def _write_parquet(path: Path, layout: Layout, batches: list[Batch]) -> None:
    arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    tables = [_table(arrow, batch) for batch in batches]
    metadata = {
        "pyengine.planes": json.dumps(batches[0]["planes"].shape[1:]),
        "pyengine.layout": json.dumps(layout.to_dict()),
    }
    schema = tables[0].schema.with_metadata(metadata)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.cast(schema))


def _table(arrow: Any, batch: Batch) -> Any:
    columns = {}
    for name, values in batch.items():
        flat = arrow.array(values.reshape(-1))
        if values.ndim > 1:
            flat = arrow.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))
        columns[name] = flat
    return arrow.table(columns)


# SGF


def export_sgf(
    directory: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    games: int | Sequence[int] | None = None,
    *,
    comments: bool = True,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Write each game of Go or Gomoku to an SGF file; return the files in the order of the games.

    Args:
        directory: directory of shards.
        out: directory to write to; by default ``DIRECTORY-sgf``.
        games: how many of the newest games, or a list of game numbers; None for all games.
        comments: at each recorded position, add a comment with the values of the search and the
            network and the best moves.
        overwrite: allow an output directory with files, and replace them.
        on_progress: called with the numbers of games done and in total; by default a terminal
            shows them.

    Raises:
        ConfigError: SGF does not support the game, ``out`` has files, or a game number does not
            exist.
        DataError: the named file is damaged, or cannot be written, for example because the disk is
            full. Complete files stay, an incomplete one is removed.
        EngineError: sgfmill is missing; the message names the extra ``sgf``.

    """
    check_callback("on_progress", on_progress)
    check_flag("comments", comments)
    check_flag("overwrite", overwrite)
    numbers = _numbers(games)
    source = Source(path_of("directory", directory))
    check_in_sgf(source.manifest.layout.game)
    game = source.manifest.layout.load_game()
    grammar()
    chosen = _chosen(source, numbers)
    target = fresh_directory(out, source.directory, "sgf", overwrite)
    maps = ShardMaps(source.manifest.layout)
    files = []
    for piece, begin, line in tracked(chosen, len(chosen), "SGF files", on_progress):
        shard = maps.rows(piece.path, piece.shard.positions)
        rows = shard[begin : begin + line.positions]
        path = target / f"game-{line.number:06d}.sgf"
        text = _text(game, line, rows if comments else rows[:0])
        with replacing(path) as temporary:
            temporary.write_bytes(text)
        files.append(path)
    return files


def _numbers(games: Any) -> int | list[int] | None:
    if games is None:
        return None
    expected = "a number of games, or a list of game numbers"
    if isinstance(games, Sequence | np.ndarray):
        return [integer("games", number, 0) for number in elements("games", games, expected)]
    return integer("games", games, 0)


#: A game: its shard, the index of its first record, and its line in the list of games.
_Game: TypeAlias = tuple[Piece, int, GameLine]


def _chosen(source: Source, games: int | list[int] | None) -> list[_Game]:
    limit = games if isinstance(games, int) else None
    every = [game for piece in newest(source.pieces, limit) for game in _games_of(piece)]
    if not isinstance(games, list):
        return every
    by_number = {line.number: (piece, begin, line) for piece, begin, line in every}
    for number in games:
        if number not in by_number:
            raise ConfigError(
                f"games: {source.directory} has {len(every)} games, but no game {number}"
            )
    return [by_number[number] for number in games]


def _games_of(piece: Piece) -> list[_Game]:
    lines = piece.lines()
    ends = itertools.accumulate(line.positions for line in lines)
    games = [(piece, end - line.positions, line) for end, line in zip(ends, lines, strict=True)]
    return games[piece.skipped :]


def _text(game: Game, line: GameLine, rows: Rows) -> bytes:
    start = line.start_state(game)
    searched = {int(row["ply"]): row for row in rows}
    comments, state = {}, start.clone()
    for ply, action in enumerate(line.moves):
        if ply in searched:
            comments[ply] = _comment(state, searched[ply])
        state.apply_action(action)
    texts = {"GN": f"game {line.number}"}
    return write_sgf(start, line.moves, result=_result(line), texts=texts, comments=comments)


def _result(line: GameLine) -> str:
    if line.cut_short:
        return "Void"
    if line.returns[0] == line.returns[1]:
        return "0"
    winner = "B" if line.returns[0] > 0 else "W"
    return f"{winner}+R" if line.resigned >= 0 else f"{winner}+"


def _comment(state: State, row: Any) -> str:
    """Describe the search before a move, with values for the player who made it."""
    visits = row["visits"]
    total = max(int(visits.sum()), 1)
    best = [a for a in np.argsort(-visits.astype(np.int64), kind="stable")[:_SHOWN] if visits[a]]
    shares = ", ".join(f"{state.action_to_string(int(a))} {visits[a] / total:.0%}" for a in best)
    text = f"value {row['root_value']:+.3f}"
    if not math.isnan(row["network_value"]):
        text += f", network {row['network_value']:+.3f}"
    return f"{text}, visits {shares}" + ("" if row["flags"] & FULL_SEARCH else ", a fast search")
