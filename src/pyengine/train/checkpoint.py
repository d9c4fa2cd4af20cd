"""Training checkpoints, written atomically; only the newest are kept."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import shortened
from pyengine.base.files import unread, write_durably
from pyengine.errors import DataError
from pyengine.train.json_files import writing

#: Format 3: a network has a tower of branches.
FORMAT = 3


def checkpoints(directory: Path) -> list[Path]:
    """Return the checkpoints, oldest first."""
    return sorted(directory.glob(f"checkpoint-{'[0-9]' * 10}.pt"))


def newest(directory: Path) -> Path | None:
    """Return the newest checkpoint, or None."""
    return next(reversed(checkpoints(directory)), None)


def save(directory: Path, state: Mapping[str, Any], keep: int) -> Path:
    """Write a state and keep only the ``keep`` newest checkpoints. Raises DataError."""
    path = directory / f"checkpoint-{state['step']:010d}.pt"
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, **state}, buffer)
    with writing(path):
        directory.mkdir(parents=True, exist_ok=True)
        write_durably(path, [buffer.getbuffer()])
    for old in checkpoints(directory)[:-keep]:
        with suppress(OSError):  # retried at the next checkpoint
            old.unlink()
    return path


def load(path: Path, device: torch.device) -> dict[str, Any]:
    """Read a state. Raises DataError if it is damaged or has another format."""
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise DataError(unread(path, error)) from error
        reason = shortened(" ".join(f"{type(error).__name__}: {error}".split()))
        raise DataError(
            f"{path} is damaged ({reason}); remove it to continue from the previous checkpoint"
        ) from error
    version = state.get("format") if isinstance(state, dict) else None
    if version != FORMAT:
        raise DataError(f"{path}: expected a checkpoint of format {FORMAT}, got {version!r}")
    return state


def not_finite(state: Any, name: str = "") -> str | None:
    """Return the name of the first tensor with NaN or infinity in nested tables, or None."""
    if isinstance(state, torch.Tensor):
        return None if bool(torch.isfinite(state).all()) else name
    inner: Any = ()
    if isinstance(state, Mapping):
        inner = state.items()
    elif isinstance(state, list | tuple):
        inner = enumerate(state)
    names = (not_finite(value, f"{name}.{key}" if name else str(key)) for key, value in inner)
    return next((bad for bad in names if bad is not None), None)
