"""What is known of the networks that ship with the package: their games and their check sums."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pyengine.evaluators import bundled_models
from pyengine.games import Game, load_game

__all__ = ["game_of_model", "is_for_search", "manifest", "model_of_game"]

# Where the manifest is silent.
_GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku": "gomoku(board_size=9)",
}


def manifest() -> dict[str, dict[str, Any]]:
    """Return what ``manifest.toml`` beside the models says of each, by name; empty without one."""
    entries: dict[str, dict[str, Any]] = {}
    for file in {path.parent / "manifest.toml" for path in bundled_models().values()}:
        if file.is_file():
            _collect(tomllib.loads(file.read_text("utf-8")), "", entries)
    return entries


def _collect(table: dict[str, Any], name: str, entries: dict[str, dict[str, Any]]) -> None:
    """Take every table with a check sum, however deep it lies."""
    if "sha256" in table:
        entries[Path(str(table.get("name", table.get("file", name)))).stem] = table
        return
    for key, value in table.items():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                _collect(entry, key, entries)


def game_of_model(name: str) -> Game | None:
    """Return the game that a bundled network plays, one of several; None where not known."""
    text = manifest().get(name, {}).get("game", _GAMES.get(name))
    return None if text is None else load_game(str(text))


def model_of_game(game: Game) -> str | None:
    """Return the name of the bundled network to search a game of exactly these parameters with."""
    names = filter(is_for_search, bundled_models())
    return next((name for name in names if game in _games_of_model(name)), None)


def is_for_search(name: str) -> bool:
    """Return whether a bundled network is meant for searches, not for valuing positions alone."""
    return manifest().get(name, {}).get("purpose") != "value"


def _games_of_model(name: str) -> list[Game]:
    """Return the games that a bundled network plays: several where it fits several boards."""
    played = [load_game(str(text)) for text in manifest().get(name, {}).get("games", ())]
    first = game_of_model(name)
    return played if first is None else [first, *played]
