"""Locks between processes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from filelock import FileLock, Timeout

from pyengine.errors import ConfigError


def lock(path: Path) -> FileLock:
    """Lock a file without waiting, until ``release()`` is called or the process ends.

    The file holds no data; it is created if needed and stays.

    Raises:
        ConfigError: another writer holds the lock.
        OSError: the file cannot be created, or the file system does not support locks.

    """
    if not path.parent.is_dir():  # FileLock would create it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    held = FileLock(path, timeout=0, thread_local=False)
    try:
        held.acquire()
    except Timeout as error:
        raise ConfigError(f"{path.parent} is locked by another writer") from error
    except NotImplementedError as error:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path)) from error
    return held
