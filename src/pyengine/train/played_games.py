"""Games to learn from: read from data, SGF files, states and lists of actions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from pyengine.base.checks import elements, short_repr
from pyengine.base.files import path_of
from pyengine.data import Dataset
from pyengine.data.manifest import MANIFEST
from pyengine.data.sgf_read import import_sgf, sgf_files
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, as_game, load_game

#: A game and its moves from the initial position.
PlayedGame: TypeAlias = tuple[Game, Sequence[int]]
#: The types accepted by :func:`played_games`.
GamesLike: TypeAlias = "Dataset | str | os.PathLike[str] | Iterable[Any]"


def played_games(games: GamesLike, game: Game | str | None) -> list[PlayedGame]:
    """Read games; from data and SGF only those that start with an empty board.

    Raises:
        ConfigError: an unsupported type, a game other than ``game``, or a path without games; says
            why SGF files were skipped.
        DataError: a shard is damaged.

    """
    if isinstance(game, str):
        game = load_game(game)
    elif game is not None:
        game = as_game(game)
    if isinstance(games, Dataset | str | os.PathLike | State):
        games = [games]
    games = elements("games", games, "a Dataset, paths, or games")
    played = [entry for source in games for entry in _of_source(source, game)]
    for other, _ in played:
        if game is not None and other != game:
            raise ConfigError(f"games: expected {game}, got {other}")
    return played


def _of_source(source: Any, game: Game | None) -> Iterator[PlayedGame]:
    if isinstance(source, Dataset):
        yield from _of_dataset(source)
    elif isinstance(source, str | os.PathLike):
        yield from _of_path(path_of("games", source), game)
    elif isinstance(source, State):
        moves = source.history()
        if source.game.new_initial_state(moves) != source:
            raise ConfigError("games: expected a state that began empty, got one set up by hand")
        yield source.game, moves
    elif game is not None:
        yield game, game.new_initial_state(source).history()
    else:
        expected = "a path, a state, or a list of actions with game=..."
        raise ConfigError(f"games: expected {expected}, got {short_repr(source)}")


def _of_path(path: Path, game: Game | None) -> Iterator[PlayedGame]:
    if (path / MANIFEST).is_file():
        yield from _of_dataset(Dataset(path))
        return
    if not path.exists():
        raise ConfigError(f"{path} does not exist")
    if path.is_dir() and not any(sgf_files(path)):
        raise ConfigError(f"{path} has neither shards nor SGF files")
    if game is None:
        raise ConfigError(f"{path}: expected game=... (--game) for SGF files, got None")
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
