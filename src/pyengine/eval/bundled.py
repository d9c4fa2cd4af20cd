"""The networks that ship with the package: the games they play and how strong they are."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of
from pyengine.games.game import Game, load_game

# Parameters that may differ from those a network was trained with.
_FREE = {"go": frozenset(("komi", "superko", "suicide", "max_game_length"))}
# The parameter that may take any value from the smallest in training to this one, measured as well.
_FREE_SIZE = {"gomoku": ("board_size", 20)}

_RESULT = re.compile(r"\+(\d+) =(\d+) -(\d+)")
_RESULT_IN_WORDS = r"won \1, drew \2, lost \3"
_BOARD = re.compile(r"(\d+)x(\d+)\b")

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED, _CHECKOUT = _PACKAGE / "models", _PACKAGE.parents[1] / "models"
_FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def bundled_models() -> dict[str, Path]:
    """Return the files of the networks that ship with the package, by name."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.onnx"))}


def bundled_runs() -> dict[str, Path]:
    """Return the run files for ``pyengine train`` that ship with the package, by name."""
    return {path.stem: path for path in sorted((_FOLDER / "runs").glob("*.toml"))}


def network_file(name: str, value: str | os.PathLike[str]) -> Path:
    """Return the file of an argument called ``name``: a bundled network's name, or a path.

    A bundled name wins over a file of that name; ``"./connect4"`` and ``Path("connect4")`` are
    files.
    """
    path = path_of(name, value)
    return bundled_models().get(value, path) if isinstance(value, str) else path


@functools.cache
def manifest() -> dict[str, dict[str, Any]]:
    """Return the entries of ``manifest.toml`` by network; empty if there is no manifest."""
    import tomllib  # not needed by a search

    file = _FOLDER / "manifest.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def game_of_model(name: str) -> Game | None:
    """Return the main game of a bundled network, or None if it is unknown."""
    entry = manifest().get(name)
    return None if entry is None else load_game(entry["game"])


def model_of_game(game: Game) -> str | None:
    """Return the name of the bundled network to search a game with, or None.

    A network trained for the game comes first, then one for a similar game: Go on the same board
    under other rules, Gomoku on a board from the smallest in training to 20x20.
    """
    names = [name for name in bundled_models() if is_for_search(name)]
    exact = (name for name in names if game in _games_of_model(name))
    near = (name for name in names if _plays_nearly(name, game))
    return next(exact, None) or next(near, None)


def trained_for(name: str, game: Game) -> str:
    """Return the parameters of a bundled network's games that differ from a game's, or ""."""
    trained = _games_of_model(name)
    if game in trained:
        return ""
    differing = {
        key: sorted({other.params[key] for other in trained})
        for key, value in game.params.items()
        if all(other.params.get(key) != value for other in trained)
    }
    parts = (f"{key} {', '.join(map(str, values))}" for key, values in differing.items())
    return " and ".join(parts).replace("_", " ")


def strength_of_model(name: str, game: Game) -> str:
    """Return one line on the measured strength of a bundled network, "" if not measured.

    Only measurements on a board of the game's size count.
    """
    targets = [
        target
        for target in manifest().get(name, {}).get("targets", ())
        if _is_on_board(target["name"], name, game)
    ]
    if not targets:
        return ""
    matches = [target for target in targets if "against" in target["name"]]
    target = matches[-1] if matches else targets[0]
    return f"{target['name']}: {_RESULT.sub(_RESULT_IN_WORDS, target['result'])}"


def _is_on_board(target: str, name: str, game: Game) -> bool:
    """Whether a measurement was made on the game's board: its name may begin with the size."""
    size = _BOARD.match(target)
    if size is not None:
        return game.board_shape == (int(size[1]), int(size[2]))
    main_game = game_of_model(name)
    return main_game is None or game.board_shape == main_game.board_shape


def is_for_search(name: str) -> bool:
    """Return whether a bundled network is meant for searches, not only for its value."""
    return manifest().get(name, {}).get("purpose") != "value"


def _games_of_model(name: str) -> list[Game]:
    entry = manifest().get(name, {})
    return [load_game(text) for text in entry.get("games", [entry["game"]] if entry else [])]


def _plays_nearly(name: str, game: Game) -> bool:
    if not game.has_board:  # a user's game, even if it has the same name
        return False
    trained = [other.params for other in _games_of_model(name) if other.name == game.name]
    free = _FREE.get(game.name, frozenset())

    def is_near(key: str, value: Any) -> bool:
        known: list[Any] = [params.get(key) for params in trained]
        size, largest = _FREE_SIZE.get(game.name, ("", 0))
        return key in free or value in known or (key == size and min(known) <= value <= largest)

    return bool(trained) and all(is_near(key, value) for key, value in game.params.items())
