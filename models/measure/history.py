"""Networks that were bundled before, from the history of the checkout."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pyengine
from measure.context import ROOT, Context
from pyengine.base.files import replacing

__all__ = ["bundled_at"]


def bundled_at(commit: str, name: str, sha256: str, context: Context) -> Path:
    """Return the file of a network as a commit has it, kept beside the records of matches.

    Raises ConfigError where the history does not have it, or has another one.
    """
    path = context.work.parent / f"{name}-{commit}.onnx"
    if path.exists():
        return path
    try:
        content = subprocess.run(
            ["git", "show", f"{commit}:models/{name}.onnx"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip() or error
        raise pyengine.ConfigError(
            f"expected {name}.onnx of commit {commit}, found none ({said}): "
            "it needs git and a checkout with its whole history (git fetch --unshallow)"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise pyengine.ConfigError(
            f"expected {name}.onnx of commit {commit} to have the SHA-256 {sha256}, found {found}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content)
    return path
