"""Where TensorRT's engines are kept between processes: one takes minutes to build."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from pyengine.errors import ModelError
from pyengine.eval.onnx_files import model_digest

__all__ = ["engine_folder", "keep"]

#: Networks whose engines are kept; those used longest ago go first. A training makes hundreds.
MOST_NETWORKS = 32


def engine_folder(model: Path, version: str) -> Path | None:
    """Return the folder for a network's engines, which may not exist; None where there is none.

    ONNX Runtime names an engine by the file's name and the graph's names, not by the weights: so
    the folder's name is a digest of the file, and of the files of its weights where it has such.

    Args:
        model: the ONNX file.
        version: of ONNX Runtime.

    """
    try:
        digest, root = model_digest(model), _root()
    except (OSError, ModelError, RuntimeError):  # the last: the user has no home
        return None
    return root / f"{digest[:32]}-{version}"


def keep(folder: Path) -> None:
    """Note that a folder is used, and remove those that were used longest ago."""
    with contextlib.suppress(OSError):
        os.utime(folder)
        _forget_the_oldest(folder.parent)


def _root() -> Path:
    """Return the folder of all networks, below the user's folder for what can be made again."""
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    caches = Path(os.environ.get(variable, ""))
    if not caches.is_absolute():
        caches = Path("~").expanduser() / ".cache"
    return caches / "pyengine" / "tensorrt"


def _forget_the_oldest(root: Path) -> None:
    import shutil

    folders = [entry for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    folders.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    for entry in folders[MOST_NETWORKS:]:
        shutil.rmtree(entry.path, ignore_errors=True)
