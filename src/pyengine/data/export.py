"""Shards as files of other formats: NumPy's npz and Parquet."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.arguments import check_callback, check_choice, check_flag
from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing, unwritten
from pyengine.data.layout import Layout
from pyengine.data.manifest import Manifest, ShardInfo
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.shards import ShardMaps, check_sha256
from pyengine.data.unpack import Batch, Unpacker
from pyengine.errors import ConfigError, DataError

#: Rows that are unpacked at once, and a row group of Parquet.
_ROWS = 1024


def convert(
    directory: str | os.PathLike[str],
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Write each shard of a directory as a file that other tools read, and return the files.

    All positions are written as :class:`Dataset` shows them without augmentation: planes and
    policies in the order of the spec, both float32, and the columns with a number per position.

    Args:
        directory: of shards.
        to: ``"npz"`` (compressed), or ``"parquet"`` (zstd; planes and policy are lists of fixed
            size, the planes' shape is in the file's metadata ``pyengine.planes``; needs the extra
            ``parquet``).
        out: directory to write to; None = ``DIRECTORY-npz`` beside the other.
        overwrite: write to a directory that has files, and replace them.
        on_progress: called with shards done and all shards; without it a terminal shows them.

    Raises:
        ConfigError: the format is unknown, or ``out`` has files.
        DataError: a shard is damaged, or a file cannot be written (a full disk); says which. Files
            written before are kept, of that one nothing.
        EngineError: a package is missing; names the extra.

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
    unpacker, maps = Unpacker(manifest.layout), ShardMaps()
    files = []
    for shard in tracked(manifest.shards, len(manifest.shards), f"{to} files", on_progress):
        check_sha256(source, shard)
        path = target / Path(shard.file).with_suffix(f".{to}")
        batches = _batches(source, shard, unpacker, maps)
        with replacing(path) as temporary:
            writers[to](temporary, manifest.layout, batches)
        files.append(path)
    return files


def fresh_directory(
    out: str | os.PathLike[str] | None, source: Path, suffix: str, overwrite: bool
) -> Path:
    """Create the directory to write to. Raises ConfigError if it has files, or DataError."""
    whole = source.absolute()
    if out is None and not whole.name:
        raise ConfigError(f"out: expected a directory to write to, since {whole} has no name")
    target = whole.with_name(f"{whole.name}-{suffix}") if out is None else path_of("out", out)
    try:
        target.mkdir(parents=True, exist_ok=True)
        filled = any(target.iterdir())
    except OSError as error:
        raise DataError(unwritten(target, error)) from error
    if filled and not overwrite:
        raise ConfigError(
            f"{target} has files: name a new directory, or give overwrite=True (--overwrite)"
        )
    return target


def _batches(source: Path, shard: ShardInfo, unpacker: Unpacker, maps: ShardMaps) -> list[Batch]:
    """Return the rows of a shard, in one batch at least."""
    rows = maps.rows(source / shard.file, unpacker.layout, shard.positions)
    return [unpacker.batch(rows[i : i + _ROWS]) for i in range(0, max(len(rows), 1), _ROWS)]


def _write_npz(path: Path, _layout: Layout, batches: list[Batch]) -> None:
    columns = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    with path.open("wb") as file:
        np.savez_compressed(file, **columns)  # type: ignore[arg-type]


def _write_parquet(path: Path, layout: Layout, batches: list[Batch]) -> None:
    arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    tables = [_table(arrow, batch) for batch in batches]
    described = {
        "pyengine.planes": json.dumps(batches[0]["planes"].shape[1:]),
        "pyengine.layout": json.dumps(layout.to_dict()),
    }
    schema = tables[0].schema.with_metadata(described)
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
