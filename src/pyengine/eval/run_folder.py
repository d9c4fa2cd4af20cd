"""The player of a training run, given the run's folder."""

from __future__ import annotations

import json
from pathlib import Path

from pyengine.errors import ModelError


def player_of_run(name: str) -> str:
    """Return the player that a run's self-play uses now; a name that is no run is returned as is.

    It is the path of the best network, or ``"rollout"`` or ``"uniform"`` if no network has beaten
    that player yet. Raises ModelError if the run has none yet.
    """
    folder = Path(name)
    try:
        is_run = (folder / "run.toml").is_file()
    except (OSError, ValueError):  # a name that no file can have
        return name
    if not is_run:
        return name
    best = folder / "best.json"
    if not best.is_file():
        raise ModelError(f"the run {name} has no network yet")
    try:
        content = json.loads(best.read_text(encoding="utf-8"))
        player, is_network = str(content["name"]), content["sha256"] is not None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{best} is damaged: {error}") from error
    return str(folder / "models" / player) if is_network else player
