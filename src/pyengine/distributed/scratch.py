"""A folder of an actor for the networks that it plays with, on the node's own disk."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from pathlib import Path

from pyengine.base.locks import lock
from pyengine.errors import ConfigError

_PREFIX = "pyengine-actor-"
_LOCK = ".lock"
_YOUNG = 60.0  # seconds in which one that is not locked yet may be about to be


class Scratch:
    """A folder that is gone when it is closed, or with the process.

    One that was left by a process that was killed is removed by the next actor on its node: nobody
    holds its lock.

    Attributes:
        path: of the folder.

    """

    def __init__(self, parent: Path | None = None) -> None:
        """Make it, in the node's temporary folder or another."""
        parent = parent or Path(tempfile.gettempdir())
        _sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._held = lock(self.path / _LOCK)
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def close(self) -> None:
        """Remove it."""
        self._held.close()
        self._remove()


def _sweep(parent: Path) -> None:
    """Remove what killed processes left."""
    for path in parent.glob(f"{_PREFIX}*"):
        try:
            if time.time() - path.stat().st_mtime > _YOUNG and (path / _LOCK).exists():
                with lock(path / _LOCK):
                    shutil.rmtree(path, ignore_errors=True)
        except (OSError, ConfigError):  # somebody else's, or somebody is at work there
            continue
