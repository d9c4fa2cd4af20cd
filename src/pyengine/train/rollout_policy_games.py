"""Games from which a rollout policy learns: shards, SGF files, finished states, lists of moves."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from pyengine.base.arguments import in_one_line
from pyengine.base.files import path_of
from pyengine.data import Dataset
from pyengine.data.manifest import MANIFEST
from pyengine.data.sgf_read import import_sgf, sgf_files
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, as_game, load_game

__all__ = ["GamesLike", "PlayedGame", "played_games"]

_MOST = 1 << 16  # actions of a game, as the engine numbers them

#: A game and its moves, from the initial position on.
PlayedGame: TypeAlias = tuple[Game, Sequence[int]]
#: What users give; see :func:`pyengine.train.rollout_policy`.
GamesLike: TypeAlias = "Dataset | str | os.PathLike[str] | Iterable[Any]"


def played_games(games: GamesLike, game: Game | str | None) -> list[PlayedGame]:
    """Return the games that are given; of data and SGF those that begin from an empty board.

    Args:
        games: a :class:`Dataset` or the directory of its shards; SGF files or directories of them;
            or an iterable of states and lists of actions.
        game: needed for SGF files and lists of actions.

    Raises:
        ConfigError: none of these, another game than ``game``, a game without a start, or a path
            without games; says why SGF files were left out.
        DataError: a shard is damaged.

    """
    own = None
    if game is not None:
        own = load_game(game) if isinstance(game, str) else as_game(game)
    if isinstance(games, str | os.PathLike):
        games = [games]
    if isinstance(games, Dataset):
        found = list(_of_dataset(games))
    elif isinstance(games, State) or not isinstance(games, Iterable):
        raise ConfigError(f"games: expected a Dataset, paths, or games, found {in_one_line(games)}")
    else:
        found = [one for given in games for one in _of_one(given, own)]
    for other, _ in found:
        if own is not None and other != own:
            raise ConfigError(f"games: expected {own}, found {other}")
    return found


def _of_one(given: Any, game: Game | None) -> Iterator[PlayedGame]:
    if isinstance(given, str | os.PathLike):
        yield from _of_path(path_of("games", given), game)
    elif isinstance(given, State):
        moves = given.history()
        if given.game.new_initial_state(moves) != given:
            raise ConfigError("games: expected a state that began empty, found one set up by hand")
        yield given.game, moves
    elif isinstance(given, Sequence) and game is not None:
        yield game, _actions(given)
    else:
        wanted = "a path, a state, or a list of actions with game=..."
        raise ConfigError(f"games: expected {wanted}, found {in_one_line(given)}")


def _actions(given: Sequence[Any]) -> list[int]:
    """Whole numbers; whether they are legal is seen when the game is replayed."""
    try:
        actions = [operator.index(action) for action in given]
    except TypeError:
        raise ConfigError(f"games: expected lists of actions, found {in_one_line(given)}") from None
    if any(abs(action) >= _MOST for action in actions):
        raise ConfigError(f"games: expected actions below {_MOST}, found {in_one_line(given)}")
    return actions


def _of_path(path: Path, game: Game | None) -> Iterator[PlayedGame]:
    if (path / MANIFEST).is_file():
        yield from _of_dataset(Dataset(path))
        return
    if not path.exists():
        raise ConfigError(f"{path}: expected shards or SGF files, found no such file or directory")
    if path.is_dir() and not any(sgf_files(path)):
        raise ConfigError(f"{path}: expected shards or SGF files, found a folder without either")
    if game is None:
        raise ConfigError(f"{path}: expected game=... (--game) for SGF files, found None")
    with TemporaryDirectory() as shards:
        report = import_sgf(path, shards, game, ModelSpec(planes=("ones",)))
        report.check_taken(path, game)
        yield from _of_dataset(Dataset(shards))


def _of_dataset(dataset: Dataset) -> Iterator[PlayedGame]:
    game = dataset.layout.load_game()
    for piece in dataset.pieces:
        for line in piece.lines()[piece.skipped :]:
            if line.start is None:
                yield game, line.moves
