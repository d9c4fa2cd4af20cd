"""Atomic JSON files, JSON lines, and locks."""

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
    """Convert an OSError (such as a full disk) to a DataError that names the file."""
    try:
        yield
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, atomically. Raises DataError."""
    with writing(path):
        write_durably(path, [(json.dumps(value, indent=2) + "\n").encode()])


def read_json(path: Path) -> Any:
    """Read a JSON file; return None if it does not exist. Raises DataError."""
    content = _content(path)
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected JSON: {error}") from error


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Append a line of JSON, first completing one cut off by a crash. Raises DataError."""
    with writing(path), path.open("a+b") as file:
        whole = file.tell() == 0
        if not whole:
            file.seek(-1, os.SEEK_END)
            whole = file.read(1) == b"\n"
        file.write((("" if whole else "\n") + json.dumps(value) + "\n").encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines; return [] if it does not exist. Raises DataError.

    An incomplete last line is ignored.
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
    """Hold a lock until released or until the process ends.

    Raises EngineError if another process holds it, DataError if it cannot be created.
    """
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            held = hold(path)
    except ConfigError as error:
        raise EngineError(f"{what} is already running: another process holds {path}") from error
    try:
        yield
    finally:
        held.release()
