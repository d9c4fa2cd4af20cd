"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyengine.base.arguments import repr_with_type
from pyengine.base.leftovers import TEMPORARY, sweep_once, temporary_name
from pyengine.errors import ConfigError, DataError

_MOST_BYTES = 2**28  # of a file that is read as a whole


def path_of(name: str, value: Any) -> Path:
    """Return a path that a caller gives. Raises ConfigError for what is none; names it."""
    try:
        given = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    except TypeError:  # __fspath__() that returns no text
        given = None
    if not (isinstance(given, str) and given and "\0" not in given and _can_be_encoded(given)):
        raise ConfigError(f"{name}: expected a path, got {repr_with_type(value)}")
    problem = _no_answer(given)
    if problem == errno.ENAMETOOLONG:
        raise ConfigError(
            f"{name}: expected a path, got a name that is too long: {repr_with_type(value)}"
        )
    if problem == errno.EACCES:
        raise ConfigError(f"{name}: {value} cannot be reached: {os.strerror(problem)}")
    return Path(given)


def _no_answer(text: str) -> int | None:
    """Why the system does not say what is at a path: then each question to pathlib may raise."""
    try:
        os.stat(text)  # noqa: PTH116  # as its text is
    except OSError as error:
        return error.errno
    return None


def _can_be_encoded(text: str) -> bool:
    """Whether the file system can have a text as a name, which it cannot with half a pair."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def why(error: BaseException, path: Path | None = None) -> str:
    """Return in words why a file could not be read or written, for a message that names it.

    Without the number of an OSError, and without its file, but where a path is given and it is
    neither that nor the temporary one beside it.
    """
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"expected text in UTF-8, got the byte 0x{byte:02x} at {error.start}"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    other = error.filename is not None and not _is_of(error.filename, path)
    return f"{error.strerror}: {error.filename}" if other else error.strerror


def _is_of(name: Any, path: Path | None) -> bool:
    """Whether an error's file is a path, or the temporary one that is to take its place."""
    if not isinstance(name, str) or path is None:
        return path is None
    file = Path(name)
    beside = file.name.startswith(path.name) and file.name.endswith(TEMPORARY)
    return file == path or (beside and file.parent == path.parent)


def unread(path: Path, error: BaseException) -> str:
    """Return the message for a file that cannot be read."""
    is_it = isinstance(error, OSError) and _is_of(error.filename or str(path), path)
    if is_it and isinstance(error, FileNotFoundError):
        return f"expected a file, got no {path}"
    if is_it and isinstance(error, IsADirectoryError):
        return f"expected a file, got the folder {path}"
    return f"{path} cannot be read: {why(error, path)}"


def unwritten(path: Path, error: BaseException) -> str:
    """Return the message for a file that cannot be written."""
    return f"{path} cannot be written: {why(error, path)}"


def check_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise ConfigError where a file cannot come to be at a path; for use before long work.

    Nor may it be one of the files that are read, be it through a link: it would replace that.
    """
    try:
        problem = _no_output(path)
        replaced = [file for file in inputs if _is_same_file(path, file)]
    except OSError as error:
        raise ConfigError(unwritten(path, error)) from error
    if problem is not None:
        raise ConfigError(f"{path}: expected a file's name in a folder, got {problem}")
    if replaced:
        raise ConfigError(
            f"{path}: expected an output other than the input {replaced[0]}, got the same file"
        )


def _is_same_file(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


def _no_output(path: Path) -> str | None:
    if path.is_dir():
        return "a directory of that name"
    if _is_special(path):
        return "a device or a pipe of that name"
    if not path.parent.is_dir():
        return f"no folder {path.parent}"
    if not os.access(path.parent, os.W_OK):
        return f"that {path.parent} may not be written to"
    return None


def temporary_beside(path: Path) -> Path:
    """Make an empty file in a file's folder, under a name that no file had; return its path.

    It begins with the file's name and ends with :data:`TEMPORARY`. Its permissions are those of any
    new file. What a process that was killed left in the folder is removed (``leftovers.py``).
    Raises OSError, also where the path has no file's name, or that of a device or a pipe: whoever
    renames a file to it would remove the device.
    """
    if path.name in ("", ".."):
        raise OSError(errno.EISDIR, "expected a file's name, got a folder", str(path))
    if _is_special(path):
        raise OSError(errno.EEXIST, "expected a regular file, got a device or a pipe", str(path))
    sweep_once(path.parent)
    while True:
        temporary = path.with_name(temporary_name(path.name))
        try:
            temporary.open("xb").close()
        except FileExistsError:
            continue
        return temporary


def write_durably(path: Path, parts: Iterable[Any]) -> tuple[int, str]:
    """Write a file under a temporary name, sync it, rename it, and sync its directory.

    Args:
        path: the file; one of that name is replaced.
        parts: bytes or arrays, one after the other.

    Returns:
        Bytes and SHA-256 of the file.

    Raises OSError, and then leaves nothing behind.

    """
    temporary = temporary_beside(path)
    digest = hashlib.sha256()
    size = 0
    try:
        with temporary.open("wb") as file:
            for part in parts:
                data = memoryview(part).cast("B")
                file.write(data)
                digest.update(data)
                size += len(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)
    return size, digest.hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name to write a file to; rename it when it is whole.

    An error leaves nothing of it behind, and what had the name before as it was. A file that is
    replaced hands on its permissions; behind a symbolic link it is the file that is replaced. For
    files that can be made again: nothing is synced.

    Raises DataError that names the file where an OSError ends the writing.
    """
    temporary = None
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        temporary = temporary_beside(path if _is_special(path) else target)
        yield temporary
        if target.exists():
            import shutil

            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise DataError(unwritten(path, error)) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether a device or a pipe, or a link such as ``/dev/stdout``, whatever that leads to."""
    folder = os.path.realpath(path.parent)
    if folder in ("/dev", "/dev/fd") or folder.startswith("/proc/"):
        return True
    return path.exists() and not (path.is_file() or path.is_dir())


def read_limited(path: Path) -> bytes:
    """Return what a file of settings, a board or games holds.

    Raises OSError, also for more than 256 MiB: a device such as ``/dev/zero`` has no end.
    """
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(errno.EFBIG, "expected at most 256 MiB, got more", str(path))
    return content


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system can."""
    if os.name == "nt":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
