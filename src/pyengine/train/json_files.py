"""Files that appear whole or not at all, files of JSON lines, and locks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyengine.base.files import unread, unwritten, write_durably
from pyengine.base.locks import lock as hold
from pyengine.errors import ConfigError, DataError, EngineError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError (a full disk) into a DataError that names what could not be written."""
    try:
        yield
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON: readers see the old file or the new one. Raises DataError."""
    with writing(path):
        write_durably(path, [(json.dumps(value, indent=2) + "\n").encode()])


def read_json(path: Path) -> Any:
    """Return the content of a file of JSON, None if it is absent. Raises DataError."""
    content = _content(path)
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected JSON: {error}") from error


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Add a line of JSON to a file, after ending one that a crash cut off. Raises DataError."""
    with writing(path), path.open("a+b") as file:
        whole = file.tell() == 0
        if not whole:
            file.seek(-1, os.SEEK_END)
            whole = file.read(1) == b"\n"
        file.write((("" if whole else "\n") + json.dumps(value) + "\n").encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines, none if it is absent. Raises DataError.

    A line that was cut off is left out.
    """
    values = []
    for line in (_content(path) or b"").splitlines():
        with suppress(ValueError, RecursionError):
            values.append(json.loads(line))
    return [value for value in values if isinstance(value, dict)]


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(unread(path, error)) from error


@contextmanager
def lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock, which ends with the process, however that ends.

    Raises EngineError if another process holds it, DataError if it cannot be made.
    """
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            held = hold(path)
    except ConfigError as error:
        raise EngineError(f"{what} is running already: another process holds {path}") from error
    try:
        yield
    finally:
        held.release()
