"""The cache of TensorRT engines on disk: building an engine takes minutes."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path

from pyengine.errors import ModelError
from pyengine.eval.onnx_files import model_digest

#: Networks whose engines are cached; the least recently used go first. A training run writes
#: hundreds of networks.
MOST_NETWORKS = 32


def engine_folder(model: Path, version: str) -> Path | None:
    """Return the folder for a network's engines; None if the network or the home is unreadable.

    ONNX Runtime names an engine after the file and the graph, not the weights, so the folder is
    named after a digest of the file and its external data, and the ``version`` of ONNX Runtime.
    The folder may not exist yet.
    """
    try:
        return _root() / f"{model_digest(model)[:32]}-{version}"
    except (OSError, ModelError, RuntimeError):  # RuntimeError: the user has no home
        return None


def keep(folder: Path) -> None:
    """Mark a folder as just used, and remove the least recently used ones."""
    with contextlib.suppress(OSError):
        os.utime(folder)
        folders = [
            entry for entry in folder.parent.iterdir() if entry.is_dir() and not entry.is_symlink()
        ]
        folders.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for old in folders[MOST_NETWORKS:]:
            shutil.rmtree(old, ignore_errors=True)  # refuses symbolic links


def _root() -> Path:
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    caches = Path(os.environ.get(variable, ""))
    if not caches.is_absolute():
        caches = Path("~").expanduser() / ".cache"
    return caches / "pyengine" / "tensorrt"
