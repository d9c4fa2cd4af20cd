"""The folder of a run: what each stage leaves there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from measure.context import Progress

import pyengine
from alphago.settings import GAME, MATCHES, Settings
from pyengine.base.files import write_durably

__all__ = ["Run"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run: its folder, its sizes, who teaches."""

    folder: Path
    settings: Settings
    teacher: Path
    threads: int = 1
    say: Callable[[str], None] = field(default_factory=Progress)

    @property
    def game(self) -> pyengine.Game:
        """What is played."""
        return pyengine.load_game(GAME)

    def path(self, name: str) -> Path:
        """Return where a product lies."""
        return self.folder / name

    def begin(self) -> None:
        """Make the folder, or see to it that it is of the same settings. Raises ConfigError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        told = {**self.settings.to_dict(), "teacher": self.teacher.name}
        file = self.path("settings.json")
        if not file.exists():
            write_durably(file, [json.dumps(told, indent=1).encode()])
        found = json.loads(file.read_text())
        other = sorted(key for key in told.keys() - MATCHES if found.get(key) != told[key])
        if other:
            raise pyengine.ConfigError(
                f"{file}: expected the settings of this run, found others: {', '.join(other)}; "
                "take another --directory"
            )
