"""Previously bundled networks, from the git history."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pyengine
from measure.context import ROOT, Context
from pyengine.base.files import replacing

__all__ = ["bundled_at"]


def bundled_at(commit: str, name: str, sha256: str, context: Context) -> Path:
    """Return the file of a network at a commit, cached beside the match records.

    Raises ConfigError if the history lacks it or has a different file.
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
        reason = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip() or error
        raise pyengine.ConfigError(
            f"{name}.onnx of commit {commit} cannot be read ({reason}): "
            "it needs git and a checkout with full history (git fetch --unshallow)"
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise pyengine.ConfigError(
            f"expected {name}.onnx of commit {commit} to have the SHA-256 {sha256}, got {digest}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content)
    return path
