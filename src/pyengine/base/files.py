"""Paths, atomic file writes and messages about files."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyengine.base.checks import repr_with_type
from pyengine.errors import ConfigError, DataError

#: Suffix of a file that is being written.
TEMPORARY = ".tmp"

_TEMPORARY_NAME = re.compile(rf"\.pyengine-[0-9a-f]{{16}}{re.escape(TEMPORARY)}$")
_MAX_BYTES = 2**28  # of a file that is read as a whole
_ABANDONED_SECONDS = 86400.0  # since the last write


def path_of(name: str, value: Any) -> Path:
    """Return a path argument as a Path."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ConfigError(f"{name}: expected a path, got {repr_with_type(value)}")
    path = Path(value)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # too long, not accessible; a null character
        raise ConfigError(f"{name}: {repr_with_type(value)}: {why(error)}") from error
    return path


def why(error: BaseException, path: Path | None = None) -> str:
    """Return the reason of an error in reading or writing, without the path if that is known."""
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"expected text in UTF-8, got the byte 0x{byte:02x} at {error.start}"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    if path is None or error.filename is None or _is_same_name(error.filename, path):
        return error.strerror
    return f"{error.strerror}: {error.filename}"


def _is_same_name(name: Any, path: Path) -> bool:
    """Return whether a file name is a path or the temporary file beside it."""
    if isinstance(name, int):  # a file descriptor
        return False
    file = Path(os.fsdecode(name))
    is_temporary = file.name.startswith(path.name) and file.name.endswith(TEMPORARY)
    return file == path or (is_temporary and file.parent == path.parent)


def unread(path: Path, error: BaseException) -> str:
    """Return the message for a file that cannot be read."""
    if isinstance(error, OSError) and _is_same_name(error.filename or path, path):
        if isinstance(error, FileNotFoundError):
            return f"{path} does not exist"
        if isinstance(error, IsADirectoryError):
            return f"{path} is a directory: expected a file"
    return f"{path} cannot be read: {why(error, path)}"


def unwritten(path: Path, error: BaseException) -> str:
    """Return the message for a file that cannot be written."""
    return f"{path} cannot be written: {why(error, path)}"


def check_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise ConfigError if a file cannot be written or is one of the inputs; call before long work.

    Symbolic links are followed.
    """
    try:
        if path.is_dir():
            raise ConfigError(f"{path}: expected the name of a file, got a directory")
        if _is_special(path):
            raise ConfigError(f"{path}: expected the name of a file, got a device or a pipe")
        if not path.parent.is_dir():
            raise ConfigError(f"{path}: the directory {path.parent} does not exist")
        if not os.access(path.parent, os.W_OK):
            raise ConfigError(f"{path}: the directory {path.parent} is not writable")
        for file in inputs:
            if path.exists() and file.exists() and path.samefile(file):
                raise ConfigError(f"{path}: the output would replace the input {file}")
    except OSError as error:
        raise ConfigError(unwritten(path, error)) from error


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, such as ``/dev/stdout``, wherever it leads."""
    folder = os.path.realpath(path.parent)
    if folder in ("/dev", "/dev/fd") or folder.startswith("/proc/"):
        return True
    return path.exists() and not (path.is_file() or path.is_dir())


def temporary_beside(path: Path) -> Path:
    """Create an empty temporary file in a file's directory and return its path.

    The first call in a directory removes temporary files that killed processes left there more
    than a day ago.

    Raises:
        OSError: the file cannot be created, or ``path`` is a device or a pipe.

    """
    if path.name in ("", "..") or _is_special(path):
        raise OSError(errno.EINVAL, "expected the name of a regular file", str(path))
    _remove_abandoned(path.parent.absolute())
    temporary = path.with_name(f"{path.name}.pyengine-{secrets.token_hex(8)}{TEMPORARY}")
    temporary.open("xb").close()
    return temporary


@contextmanager
def _temporary_for(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside a file; if it is still there at the end, remove it."""
    temporary = temporary_beside(path)
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@functools.cache
def _remove_abandoned(folder: Path) -> None:
    with suppress(OSError):
        for file in folder.glob(f"*{TEMPORARY}"):
            age = time.time() - file.stat().st_mtime
            if _TEMPORARY_NAME.search(file.name) and age > _ABANDONED_SECONDS:
                file.unlink()


def write_durably(path: Path, parts: Iterable[Any]) -> tuple[int, str]:
    """Write bytes or arrays to a file atomically and durably.

    The parts go to a temporary file, which is synced and renamed; then the directory is synced.
    On an error nothing is left behind.

    Returns:
        The size in bytes and the SHA-256 of the file.

    """
    digest = hashlib.sha256()
    size = 0
    with _temporary_for(path) as temporary:
        with temporary.open("wb") as file:
            for part in parts:
                data = memoryview(part).cast("B")
                file.write(data)
                digest.update(data)
                size += len(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    sync_directory(path.parent)
    return size, digest.hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to ``path`` at the end of the block.

    On an error the old file stays. A replaced file passes on its permissions; a symbolic link is
    followed. Nothing is synced: use :func:`write_durably` for data that cannot be made again.

    Raises:
        DataError: the block or the renaming raised OSError.

    """
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        with _temporary_for(target) as temporary:
            yield temporary
            if target.exists():
                import shutil

                shutil.copymode(target, temporary)
            temporary.replace(target)
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def read_limited(path: Path) -> bytes:
    """Return the content of a file of at most 256 MiB. Raises OSError if it is larger."""
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(errno.EFBIG, "expected at most 256 MiB, got more", str(path))
    return content


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable; does nothing on Windows."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
