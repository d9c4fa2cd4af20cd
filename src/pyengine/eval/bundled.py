"""The networks that ship with the package: the games they play and how strong they are."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyengine.base.checks import did_you_mean
from pyengine.base.files import path_of
from pyengine.errors import ConfigError, ModelError
from pyengine.games.game import Game, Parameter, as_game, load_game, registered_games
from pyengine.games.named_games import bare_name, names_foreign_game, parameters_of

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
def bundled_table(file: str) -> dict[str, dict[str, Any]]:
    """Return a TOML file that ships with the networks; empty if this build lacks it."""
    import tomllib  # not needed by a search

    path = _FOLDER / file
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def manifest() -> dict[str, dict[str, Any]]:
    """Return the entries of ``manifest.toml`` by network; empty if there is no manifest."""
    return bundled_table("manifest.toml")


def game_of_model(name: str) -> Game | None:
    """Return the main game of a bundled network, or None if it is unknown."""
    entry = manifest().get(name)
    return None if entry is None else load_game(entry["game"])


def network_of_text(text: str) -> str | None:
    """Return the bundled network that a game's name refers to, or None.

    ``"go9"`` and ``"go9(komi=6)"`` do; a game's own name, such as ``"othello"``, is the game.
    """
    name = bare_name(text)
    return name if name in manifest() and name not in registered_games() else None


def load_named(text: str, /, **params: Parameter) -> Game:
    """Return a game by its name, as :func:`~pyengine.load_game`, or by that of a bundled network.

    A network stands for its main game; parameters given in addition replace the network's own.
    """
    network = network_of_text(text)
    if network is None:
        try:
            return load_game(text, **params)
        except ConfigError as error:
            raise _with_likely_network(error, text) from None
    main = manifest()[network]["game"]
    given = parameters_of(text, params)
    sizes = {"board_size"} if given.keys() & {"rows", "columns"} else set()
    own = {key: value for key, value in parameters_of(main).items() if key not in sizes}
    return load_game(bare_name(main), **(own | given))


def _with_likely_network(error: ConfigError, text: str) -> ConfigError:
    name = bare_name(text)
    if names_foreign_game(text) or name in registered_games() or "did you mean" in str(error):
        return error
    hint = did_you_mean(name, manifest()) or f"; or a bundled network: {', '.join(manifest())}"
    return ConfigError(f"{error}{hint}")


def load_or_wrap(game: Any) -> Game:
    """Return a game given as a Game, a name, a Python game or a ``pyspiel`` game.

    A name is that of a game or of a bundled network.
    """
    return load_named(game) if isinstance(game, str) else as_game(game)


def default_network(text: Any, game: Game) -> str | None:
    """Return the bundled network for a game that was loaded as ``text``, or None.

    A network's own name stands for that network, even if the parameters do not fit it.
    """
    return (isinstance(text, str) and network_of_text(text)) or model_of_game(game)


def required_network(text: Any, game: Game) -> str:
    """Return :func:`default_network`. Raises ConfigError if there is none."""
    name = default_network(text, game)
    if name is None:
        others = [_plays(other) for other in networks_of_game(game.name)]
        known = f" ({', '.join(others)})" if others else ""
        raise ConfigError(
            f'evaluator: no network is bundled for {game}{known}; give one, such as "rollout"'
        )
    return name


def with_trained_komi(name: str, game: Game) -> Game:
    """Return a game of Go with the komi that a bundled network was trained with.

    Other games, and boards that the network does not play, are returned unchanged.
    """
    if game.name != "go" or not _plays_nearly(name, game):
        return game
    return load_game("go", **(game.params | {"komi": _games_of_model(name)[0].params["komi"]}))


class MisfitError(ModelError):
    """A bundled network that does not play a game, and what to change.

    Attributes:
        plays: what the network plays, such as ``"go9 plays 9x9"``.
        params: the parameters of the same game that it needs; empty for another game.
    """

    def __init__(self, plays: str, game: Game, params: dict[str, Any]) -> None:
        self.plays, self.params = plays, params
        changes = ", ".join(f"{key}={value!r}" for key, value in params.items())
        way_out = f': load_game("{game.name}", {changes})' if params else f", not {game}"
        super().__init__(f"{plays}{way_out}")


@contextlib.contextmanager
def misfit_explained(evaluator: Any, game: Game) -> Iterator[None]:
    """Replace a ModelError by a MisfitError if a bundled network does not play the game."""
    try:
        yield
    except ModelError as error:
        misfit = _misfit(getattr(evaluator, "path", None), game)
        if misfit is None:
            raise
        raise misfit from error


def _misfit(file: Path | None, game: Game) -> MisfitError | None:
    name = next((name for name, path in bundled_models().items() if path == file), None)
    if name is None or name not in manifest() or model_plays(name, game):
        return None
    main = load_game(manifest()[name]["game"])
    if main.name != game.name or not game.has_board:
        return MisfitError(f"{name} plays {manifest()[name]['game']}", game, {})
    free = _FREE.get(game.name, frozenset())
    needed = {
        key: value
        for key, value in main.params.items()
        if key not in free and game.params.get(key) != value
    }
    return MisfitError(_plays(name), game, needed)


def model_plays(name: str, game: Game) -> bool:
    """Return whether a bundled network was trained for a game or for one that is close to it."""
    return game in _games_of_model(name) or _plays_nearly(name, game)


def networks_of_game(game: str) -> list[str]:
    """Return the bundled networks for a game, given by name, on any board."""
    return [name for name in bundled_models() if _has_game(name, game)]


def board_shapes(name: str) -> list[tuple[int, int]]:
    """Return the smallest and the largest board that a bundled network plays, or its only one."""
    games = _games_of_model(name)
    shapes = {game.board_shape for game in games}
    parameter, largest = _FREE_SIZE.get(games[0].name, ("", 0))
    if parameter and is_for_search(name):
        shapes.add((largest, largest))
    return [min(shapes), max(shapes)] if len(shapes) > 1 else list(shapes)


def _plays(name: str) -> str:
    rows, columns = load_game(manifest()[name]["game"]).board_shape
    return f"{name} plays {rows}x{columns}"


def _has_game(name: str, game: str) -> bool:
    return any(other.name == game for other in _games_of_model(name))


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


def strength_in_words(name: str) -> str:
    """Return the strength of a bundled network in words for players."""
    return str(manifest().get(name, {}).get("strength", ""))


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
