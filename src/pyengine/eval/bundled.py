"""The manifest of the networks that ship with the package: games, strengths, check sums."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from pyengine.eval.evaluators import bundled_models
from pyengine.games.game import Game, load_game

# Parameters in which a game may differ from those that a network was trained for.
_FREE = {"go": frozenset(("komi", "superko", "suicide", "max_game_length"))}
# The one that may lie between those.
_FREE_SIZE = {"gomoku": "board_size"}

# A result of games in the manifest, and in words.
_RESULT = re.compile(r"\+(\d+) =(\d+) -(\d+)")
_WORDS = r"won \1, drew \2, lost \3"
# The board of a measurement whose name begins with one.
_BOARD = re.compile(r"(\d+)x(\d+)\b")


def manifest() -> dict[str, dict[str, Any]]:
    """Return what ``manifest.toml`` beside the models says of each, by name; empty without one."""
    folders = {path.parent for path in bundled_models().values()}
    return {name: entry for folder in folders for name, entry in _read(folder).items()}


@functools.cache
def _read(folder: Path) -> dict[str, dict[str, Any]]:
    import tomllib

    file = folder / "manifest.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def bundled_runs() -> dict[str, Path]:
    """Return the run files that ship with the package, of ``pyengine train``: name and file."""
    folders = {path.parent / "runs" for path in bundled_models().values()}
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def game_of_model(name: str) -> Game | None:
    """Return the game that a bundled network plays, one of several; None if not known."""
    entry = manifest().get(name)
    return None if entry is None else load_game(entry["game"])


def model_of_game(game: Game) -> str | None:
    """Return the name of the bundled network to search a game with; None if there is none.

    It was trained for the game or, if no network was, for the board: with other rules of the end
    in Go, on smaller and larger boards in Gomoku.
    """
    names = [name for name in bundled_models() if is_for_search(name)]
    exact = (name for name in names if game in _games_of_model(name))
    near = (name for name in names if _plays_nearly(name, game))
    return next(exact, None) or next(near, None)


def trained_for(name: str, game: Game) -> str:
    """Return what a bundled network was trained for if that is not exactly the game, else ""."""
    played = _games_of_model(name)
    if game in played:
        return ""
    differing = {
        key: sorted({each.params[key] for each in played})
        for key, value in game.params.items()
        if all(each.params.get(key) != value for each in played)
    }
    each = (f"{key} {', '.join(map(str, values))}" for key, values in differing.items())
    return " and ".join(each).replace("_", " ")


def strength_of_model(name: str, game: Game) -> str:
    """Return how strong a bundled network was measured to be on the game's board, in a line.

    "" if it was not measured on a board of that size.
    """
    every = manifest().get(name, {}).get("targets", ())
    targets = [target for target in every if _is_of_board(target["name"], name, game)]
    matches = [target for target in targets if "against" in target["name"]]
    for target in (*matches[-1:], *targets[:1]):
        return f"{target['name']}: {_RESULT.sub(_WORDS, target['told'])}"
    return ""


def _is_of_board(target: str, name: str, game: Game) -> bool:
    """Whether a measurement is of the game's board: the one it names, else the network's."""
    size = _BOARD.match(target)
    if size is not None:
        return game.board_shape == (int(size[1]), int(size[2]))
    own = game_of_model(name)
    return own is None or game.board_shape == own.board_shape


def is_for_search(name: str) -> bool:
    """Return whether a bundled network is meant for searches, not for valuing positions alone."""
    return manifest().get(name, {}).get("purpose") != "value"


def _games_of_model(name: str) -> list[Game]:
    """The games that a bundled network plays: several if it fits several boards."""
    entry = manifest().get(name, {})
    return [load_game(text) for text in entry.get("games", [entry["game"]] if entry else [])]


def _plays_nearly(name: str, game: Game) -> bool:
    if not game.has_board:  # a user's game, whatever its name
        return False
    played = [each.params for each in _games_of_model(name) if each.name == game.name]
    free = _FREE.get(game.name, frozenset())

    def is_near(key: str, value: Any) -> bool:
        known: list[Any] = [params.get(key) for params in played]
        lies_between = key == _FREE_SIZE.get(game.name) and min(known) <= value <= max(known)
        return key in free or value in known or lies_between

    return bool(played) and all(is_near(key, value) for key, value in game.params.items())
