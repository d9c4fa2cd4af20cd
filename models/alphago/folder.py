"""The folder of a run."""

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
    """A run: its folder, settings and teacher."""

    folder: Path
    settings: Settings
    teacher: Path
    threads: int = 1
    say: Callable[[str], None] = field(default_factory=Progress)

    @property
    def game(self) -> pyengine.Game:
        """The game."""
        return pyengine.load_game(GAME)

    def path(self, name: str) -> Path:
        """Return the path of a product."""
        return self.folder / name

    def begin(self) -> None:
        """Create the folder. Raises ConfigError if it belongs to a run with other settings."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {**self.settings.to_dict(), "teacher": self.teacher.name}
        file = self.path("settings.json")
        if not file.exists():
            write_durably(file, [json.dumps(settings, indent=1).encode()])
        saved = json.loads(file.read_text())
        other = sorted(key for key in settings.keys() - MATCHES if saved.get(key) != settings[key])
        if other:
            raise pyengine.ConfigError(
                f"{file} has other settings: {', '.join(other)}; choose another --directory"
            )
