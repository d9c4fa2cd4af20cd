"""Locks of files, which end with the process that holds them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path
from types import TracebackType

from pyengine.errors import ConfigError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# The byte that is locked on Windows. Nobody else can read or write a byte that is locked there, so
# it lies behind what a file has; msvcrt counts positions with 32 bits.
_FAR = 2**31 - 2


class Lock:
    """A file that nobody else holds, open for reading and writing at its start.

    Attributes:
        file: the open file.
        created: whether it was not there before.

    """

    def __init__(self, path: Path, file: BufferedRandom, *, created: bool) -> None:
        """Take over a file that is locked."""
        self.file = file
        self.created = created
        self._path = path

    def close(self) -> None:
        """Let others have it."""
        self.file.close()

    def discard(self) -> None:
        """Let others have it, and leave nothing of a file that was not there and is empty."""
        if self.created and not self.file.closed:
            with suppress(OSError):  # Windows removes no open file
                if os.fstat(self.file.fileno()).st_size == 0:
                    self._path.unlink()
        self.close()

    def __enter__(self) -> Lock:
        """Return the lock itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let others have it."""
        self.close()


def lock(path: Path) -> Lock:
    """Hold a file until the result is closed or the process ends, however it ends.

    A file that is absent is made. On a file system without locks nothing keeps two writers apart.

    Raises:
        ConfigError: somebody else holds it.
        OSError: it cannot be opened for reading and writing.

    """
    while True:
        file, created = _open(path)
        try:
            _take(path, file)
            if _is_at(path, file):
                return Lock(path, file, created=created)
        except BaseException:
            file.close()
            raise
        file.close()  # who held it before has removed it in the meantime


def _open(path: Path) -> tuple[BufferedRandom, bool]:
    """Open a file without a change to it; the second says whether it is new."""
    while True:
        try:
            return path.open("r+b"), False
        except FileNotFoundError:
            with suppress(FileExistsError):
                return path.open("x+b"), True
            if path.is_symlink() and not path.exists():
                raise


def _take(path: Path, file: BufferedRandom) -> None:
    """Lock an open file. Raises ConfigError when somebody else holds it."""
    try:
        if sys.platform == "win32":
            os.lseek(file.fileno(), _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(file.fileno(), 0, os.SEEK_SET)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:  # POSIX; Windows
        raise ConfigError(
            f"{path.parent} must have one writer at a time, got another at work"
        ) from error
    except OSError:  # a file system without locks
        pass


def _is_at(path: Path, file: BufferedRandom) -> bool:
    """Whether an open file is still the one of its name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
