"""What is known of the networks that ship with the package: their games and their check sums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyengine.eval.evaluators import bundled_models
from pyengine.games.game import Game, load_game

__all__ = [
    "bundled_runs",
    "game_of_model",
    "is_for_search",
    "manifest",
    "model_of_game",
    "strength_of_model",
    "trained_for",
]

# Parameters in which a game may differ from those that a network was trained for.
_FREE = {"go": frozenset(("komi", "superko", "suicide", "max_game_length"))}
# The one that may lie between those.
_FREE_SIZE = {"gomoku": "board_size"}

# A result of games in the manifest, and in words.
_RESULT = re.compile(r"\+(\d+) =(\d+) -(\d+)")
_WORDS = r"won \1, drew \2, lost \3"
# The board of a measurement, where its name begins with one.
_BOARD = re.compile(r"(\d+)x(\d+)\b")

# Where the manifest is silent.
_GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku": "gomoku(board_size=9)",
}


def manifest() -> dict[str, dict[str, Any]]:
    """Return what ``manifest.toml`` beside the models says of each, by name; empty without one."""
    import tomllib

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


def bundled_runs() -> dict[str, Path]:
    """Return the run files that ship with the package, of ``pyengine train``: name and file."""
    folders = {path.parent / "runs" for path in bundled_models().values()}
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def game_of_model(name: str) -> Game | None:
    """Return the game that a bundled network plays, one of several; None where not known."""
    text = manifest().get(name, {}).get("game", _GAMES.get(name))
    return None if text is None else load_game(str(text))


def model_of_game(game: Game) -> str | None:
    """Return the name of the bundled network to search a game with; None where there is none.

    It was trained for the game or, where no network was, for the board: with other rules of the end
    in Go, on smaller and larger boards in Gomoku.
    """
    names = [name for name in bundled_models() if is_for_search(name)]
    for fits in (_plays, _plays_nearly):
        for name in names:
            if fits(name, game):
                return name
    return None


def trained_for(name: str, game: Game) -> str:
    """Return what a bundled network was trained for where that is not exactly the game, else ""."""
    if _plays(name, game):
        return ""
    played = _games_of_model(name)
    differing = {
        key: sorted({each.params[key] for each in played})
        for key, value in game.params.items()
        if all(each.params.get(key) != value for each in played)
    }
    told = (f"{key} {', '.join(map(str, values))}" for key, values in differing.items())
    return " and ".join(told).replace("_", " ")


def strength_of_model(name: str, game: Game) -> str:
    """Return how strong a bundled network was measured to be on the game's board, in a line.

    "" where it was not measured on a board of that size.
    """
    every = manifest().get(name, {}).get("targets", ())
    targets = [target for target in every if _is_of_board(target["name"], name, game)]
    matches = [target for target in targets if "against" in target["name"]]
    for target in (*matches[-1:], *targets[:1]):
        return f"{target['name']}: {_RESULT.sub(_WORDS, target['told'])}"
    return ""


def _is_of_board(target: str, name: str, game: Game) -> bool:
    """Return whether a measurement is of the game's board: the one it names, else the network's."""
    told = _BOARD.match(target)
    if told is not None:
        return game.board_shape == (int(told[1]), int(told[2]))
    own = game_of_model(name)
    return own is None or game.board_shape == own.board_shape


def is_for_search(name: str) -> bool:
    """Return whether a bundled network is meant for searches, not for valuing positions alone."""
    return manifest().get(name, {}).get("purpose") != "value"


def _games_of_model(name: str) -> list[Game]:
    """Return the games that a bundled network plays: several where it fits several boards."""
    played = [load_game(str(text)) for text in manifest().get(name, {}).get("games", ())]
    first = game_of_model(name)
    return played if first is None else [first, *played]


def _plays(name: str, game: Game) -> bool:
    return game in _games_of_model(name)


def _plays_nearly(name: str, game: Game) -> bool:
    if not game.has_board:  # of a user, whatever its name
        return False
    played = [each.params for each in _games_of_model(name) if each.name == game.name]
    free = _FREE.get(game.name, frozenset())
    return bool(played) and all(
        key in free
        or any(params.get(key) == value for params in played)
        or (key == _FREE_SIZE.get(game.name) and _lies_between(value, played, key))
        for key, value in game.params.items()
    )


def _lies_between(value: Any, played: Sequence[dict[str, Any]], key: str) -> bool:
    values = [params[key] for params in played]
    return bool(min(values) <= value <= max(values))
