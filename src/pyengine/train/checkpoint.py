"""Checkpoints of a training: written whole, the last few kept, refused where settings changed."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.errors import ConfigError, DataError
from pyengine.files import write_durably
from pyengine.train.json_files import writing
from pyengine.train.section import differences

__all__ = ["FORMAT", "checkpoints", "load", "not_finite", "refuse_changes", "save"]

FORMAT = 1

_NAME = re.compile(r"checkpoint-(\d{10})\.pt")


def checkpoints(directory: Path) -> list[Path]:
    """Return the checkpoints, the oldest first."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _NAME.fullmatch(path.name))


def save(directory: Path, state: Mapping[str, Any], keep: int) -> Path:
    """Write a state with its ``step``, then remove all but the newest ``keep``.

    Raises DataError that names the file where it cannot be written; the older ones stay.
    """
    path = directory / f"checkpoint-{state['step']:010d}.pt"
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, **state}, buffer)
    with writing(path):
        directory.mkdir(parents=True, exist_ok=True)
        write_durably(path, [buffer.getvalue()])
    for old in checkpoints(directory)[:-keep]:
        old.unlink()
    return path


def not_finite(state: Any, name: str = "") -> str | None:
    """Return the name of a tensor of nested tables that has NaN or an infinity; None: none has."""
    if isinstance(state, torch.Tensor):
        return None if bool(torch.isfinite(state).all()) else name
    inner = state.items() if isinstance(state, Mapping) else ()
    found = (not_finite(value, f"{name}.{key}" if name else str(key)) for key, value in inner)
    return next((bad for bad in found if bad is not None), None)


def load(path: Path, device: torch.device) -> dict[str, Any]:
    """Return a state. Raises DataError where it is damaged, not finite or of another format."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        found = state.get("format")
    except Exception as error:
        raise DataError(
            f"{path} is damaged ({type(error).__name__}: {error}); without it the training goes "
            "on from the checkpoint before"
        ) from error
    if found != FORMAT:
        raise DataError(f"{path}: expected a checkpoint of format {FORMAT}, found {found!r}")
    bad = not_finite(state)
    if bad is not None:
        raise DataError(
            f"{path}: expected finite numbers, found others in {bad}; without it the training goes "
            "on from the checkpoint before"
        )
    return dict(state)


def refuse_changes(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ConfigError that names the settings that are not those of the checkpoint."""
    changed = differences(before, now)
    if changed:
        raise ConfigError(
            f"{path} was made with other settings; expected the same, found {'; '.join(changed)}"
        )
