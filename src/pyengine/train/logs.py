"""The log of a training: JSON lines always, TensorBoard if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyengine.train.json_files import append_line, writing


class TrainLog:
    """Writes ``log.jsonl`` to a folder, and scalars for TensorBoard next to it.

    Raises DataError if something cannot be written.
    """

    def __init__(self, directory: Path) -> None:
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
        self._path, self._scalars = directory / "log.jsonl", directory / "tensorboard"
        self._board: Any = None
        if importlib.util.find_spec("tensorboard") is not None:
            module = importlib.import_module("torch.utils.tensorboard")
            with writing(self._scalars):
                self._board = module.SummaryWriter(str(self._scalars))

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a line for ``step``."""
        append_line(self._path, {"time": time.time(), **values})
        if self._board is None:
            return
        with writing(self._scalars):
            for name, value in values.items():
                if name != "step":
                    self._board.add_scalar(f"train/{name}", value, values["step"])

    def close(self) -> None:
        """Close the files."""
        if self._board is not None:
            with writing(self._scalars):
                self._board.close()
