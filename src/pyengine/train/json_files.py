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

__all__ = ["append_line", "lock", "read_json", "read_lines", "write_json", "writing"]


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
    """Return what a file of JSON says; None where it is absent. Raises DataError."""
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(unread(path, error)) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path}: expected JSON: {error}") from error


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Add a line of JSON to a file; one that was cut off by a crash is ended first.

    Raises DataError.
    """
    with writing(path), path.open("a+b") as file:
        whole = file.tell() == 0
        if not whole:
            file.seek(-1, os.SEEK_END)
            whole = file.read(1) == b"\n"
        file.write((("" if whole else "\n") + json.dumps(value) + "\n").encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of JSON lines; none where it is absent.

    A line cut off, or that is no object, is left out. Raises DataError for what cannot be read.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(unread(path, error)) from error
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            found.append(json.loads(line.decode("utf-8")))
    return [line for line in found if isinstance(line, dict)]


@contextmanager
def lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock; it ends with the process, however that ends.

    Raises:
        EngineError: another process holds it; says what is running already.
        DataError: it cannot be made.

    """
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            held = hold(path)
    except ConfigError as error:
        raise EngineError(f"{what} is running already: another process holds {path}") from error
    with held:
        yield
