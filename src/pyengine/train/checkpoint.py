"""Training checkpoints, written atomically; only the newest are kept."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import shortened
from pyengine.base.files import unread, write_durably
from pyengine.errors import ConfigError, DataError
from pyengine.train.json_files import writing
from pyengine.train.settings import differences

#: Format 2: the optimiser has two groups of parameters, with and without weight decay.
FORMAT = 2

_WAY_OUT = "remove it to continue from the previous checkpoint"

#: Required keys of a state and their types.
_PARTS: dict[str, Any] = {
    "config": Mapping,
    "spec": str,
    "step": int,
    "seconds": int | float,
    "network": Mapping,
    "optimiser": Mapping,
}

_NAME = re.compile(r"checkpoint-(\d{10})\.pt")


def checkpoints(directory: Path) -> list[Path]:
    """Return the checkpoints, oldest first."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _NAME.fullmatch(path.name))


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
        write_durably(path, [buffer.getvalue()])
    for old in checkpoints(directory)[:-keep]:
        with suppress(OSError):  # retried at the next checkpoint
            old.unlink()
    return path


def not_finite(state: Any, name: str = "") -> str | None:
    """Return the name of the first tensor with NaN or infinity in nested tables, or None."""
    if isinstance(state, torch.Tensor):
        return None if bool(torch.isfinite(state).all()) else name
    inner = state.items() if isinstance(state, Mapping) else ()
    names = (not_finite(value, f"{name}.{key}" if name else str(key)) for key, value in inner)
    return next((bad for bad in names if bad is not None), None)


def load(path: Path, device: torch.device) -> dict[str, Any]:
    """Read a state. Raises DataError if it is damaged, not finite or has another format."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        version = state.get("format")
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise DataError(unread(path, error)) from error
        reason = shortened(" ".join(f"{type(error).__name__}: {error}".split()))
        raise DataError(f"{path} is damaged ({reason}); {_WAY_OUT}") from error
    if version != FORMAT:
        raise DataError(f"{path}: expected a checkpoint of format {FORMAT}, got {version!r}")
    for name, kind in _PARTS.items():
        if not isinstance(state.get(name), kind):
            raise DataError(
                f"{path} is damaged: its entry {name} is missing or invalid; {_WAY_OUT}"
            )
    bad = not_finite(state)
    if bad is not None:
        raise DataError(f"{path}: {bad} has numbers that are not finite; {_WAY_OUT}")
    return dict(state)


def restore(path: Path, network: torch.nn.Module, values: Mapping[str, Any]) -> None:
    """Load a checkpoint's weights into a network. Raises ConfigError if they do not fit."""
    for name, weights in network.state_dict().items():
        saved = values.get(name)
        shape = list(saved.shape) if isinstance(saved, torch.Tensor) else None
        if shape != list(weights.shape):
            raise ConfigError(
                f"{path} does not fit the data, which may be of another game: expected {name} of "
                f"shape {list(weights.shape)}, got {shape}"
            )
    network.load_state_dict({name: values[name] for name in network.state_dict()})


def refuse_changes(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ConfigError naming the settings that differ from those of the checkpoint."""
    changed = differences(before, now)
    if changed:
        raise ConfigError(f"{path} was made with other settings: {'; '.join(changed)}")
