"""The log beside a manifest: what a long directory got since the manifest was written.

To write a list of a hundred thousand shards anew with each shard would take seconds. The log is
named after what the manifest lists, so that a manifest that was written later has another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyengine.base.files import sync_directory, unread
from pyengine.errors import DataError

__all__ = ["append_lines", "log_name", "logs_of", "read_log"]


def log_name(shards: int, models: int) -> str:
    """Return the name of the log of a manifest that lists so many shards and networks."""
    return f"manifest-{shards:06d}-{models:06d}.log.jsonl"


def logs_of(directory: Path) -> list[Path]:
    """Return the logs that there are, of any manifest."""
    return sorted(directory.glob("manifest-*.log.jsonl"))


def append_lines(path: Path, size: int, values: Sequence[Any]) -> int:
    """Add lines to a log durably and return its new size.

    Args:
        path: of the log, which is made where it is absent.
        size: of the log before; whatever follows is half a line of an earlier try.
        values: plain values, one a line.

    Raises OSError, and then leaves the log as it was.

    """
    content = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values).encode()
    is_new = not path.exists()
    with path.open("ab", buffering=0) as file:
        try:
            file.truncate(size)
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(size)
            raise
    if is_new:
        sync_directory(path.parent)
    return size + len(content)


def read_log(path: Path, begin: int) -> tuple[list[dict[str, Any]], int]:
    """Return the whole lines of a log from a byte on, and the byte that follows them.

    There are none where there is no log. Raises DataError for what is no line of a log.
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
    if not all(isinstance(value, dict) for value in values):
        raise DataError(f"{path} is damaged: expected an object in each line")
    return values, begin + len(content)
