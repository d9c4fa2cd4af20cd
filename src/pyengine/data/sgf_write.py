"""Writes games of training data as SGF."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyengine.base.arguments import check_callback, check_flag, elements
from pyengine.base.files import path_of, replacing
from pyengine.base.integers import integer
from pyengine.data.export import fresh_directory
from pyengine.data.layout import FULL_SEARCH, Rows
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.record import GameLine
from pyengine.data.sgf.collection import grammar
from pyengine.data.sgf.rules import check_in_sgf
from pyengine.data.sgf.write import write_sgf
from pyengine.data.shards import ShardMaps
from pyengine.data.window import Piece, Source, newest
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State

_SHOWN = 3  # moves that a comment names


def export_sgf(
    directory: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    games: int | Sequence[int] | None = None,
    *,
    comments: bool = True,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Write games of Go or Gomoku as SGF, a file each; return the files in the order of the games.

    Args:
        directory: of shards.
        out: directory to write to; None = ``DIRECTORY-sgf`` beside the other.
        games: the newest so many, or the numbers of some; None = all.
        comments: at each recorded position the search's value, the network's, and the best moves.
        overwrite: write to a directory that has files, and replace them.
        on_progress: called with games done and all games; without it a terminal shows them.

    Raises:
        ConfigError: SGF does not have the game, ``out`` has files, or a number does not exist.
        DataError: a file is damaged, or one cannot be written (a full disk); says which. Games
            written before are kept, of that one nothing.
        EngineError: sgfmill is missing; names the extra ``sgf``.

    """
    check_callback("on_progress", on_progress)
    check_flag("comments", comments)
    check_flag("overwrite", overwrite)
    numbers = _numbers(games)
    source = Source(path_of("directory", directory))
    check_in_sgf(source.manifest.layout.game)
    game = source.manifest.layout.load_game()
    grammar()
    chosen = _chosen(source, numbers)
    target = fresh_directory(out, source.directory, "sgf", overwrite)
    maps = ShardMaps()
    files = []
    for piece, begin, line in tracked(chosen, len(chosen), "SGF files", on_progress):
        shard = maps.rows(piece.path, source.manifest.layout, piece.shard.positions)
        rows = shard[begin : begin + line.positions]
        path = target / f"game-{line.number:06d}.sgf"
        text = _text(game, line, rows if comments else rows[:0])
        with replacing(path) as temporary:
            temporary.write_bytes(text)
        files.append(path)
    return files


def _numbers(games: Any) -> int | list[int] | None:
    if games is None:
        return None
    expected = "how many games, or the numbers of some"
    if isinstance(games, Sequence | np.ndarray):
        return [integer("games", number, 0) for number in elements("games", games, expected)]
    return integer("games", games, 0)


#: A game: its shard, its first record there, and its line in the list.
_Game: TypeAlias = tuple[Piece, int, GameLine]


def _chosen(source: Source, games: int | list[int] | None) -> list[_Game]:
    limit = games if isinstance(games, int) else None
    every = [game for piece in newest(source.pieces, limit) for game in _games_of(piece)]
    if not isinstance(games, list):
        return every
    by_number = {line.number: (piece, begin, line) for piece, begin, line in every}
    for number in games:
        if number not in by_number:
            raise ConfigError(f"games: {source.directory} has {len(every)} games, but no {number}")
    return [by_number[number] for number in games]


def _games_of(piece: Piece) -> list[_Game]:
    lines = piece.lines()
    ends = itertools.accumulate(line.positions for line in lines)
    games = [(piece, end - one.positions, one) for end, one in zip(ends, lines, strict=True)]
    return games[piece.skipped :]


def _text(game: Game, line: GameLine, rows: Rows) -> bytes:
    start = line.start_state(game)
    searched = {int(row["ply"]): row for row in rows}
    comments, state = {}, start.clone()
    for ply, action in enumerate(line.moves):
        if ply in searched:
            comments[ply] = _comment(state, searched[ply])
        state.apply_action(action)
    texts = {"GN": f"game {line.number}"}
    return write_sgf(start, line.moves, result=_result(line), texts=texts, comments=comments)


def _result(line: GameLine) -> str:
    if line.cut_short:
        return "Void"
    if line.returns[0] == line.returns[1]:
        return "0"
    winner = "B" if line.returns[0] > 0 else "W"
    return f"{winner}+R" if line.resigned >= 0 else f"{winner}+"


def _comment(state: State, row: Any) -> str:
    """Return what the search thought before a move, with values for the player who makes it."""
    visits = row["visits"]
    total = max(int(visits.sum()), 1)
    best = [a for a in np.argsort(-visits.astype(np.int64), kind="stable")[:_SHOWN] if visits[a]]
    shares = ", ".join(f"{state.action_to_string(int(a))} {visits[a] / total:.0%}" for a in best)
    text = f"value {row['root_value']:+.3f}"
    if not math.isnan(row["network_value"]):
        text += f", network {row['network_value']:+.3f}"
    return f"{text}, visits {shares}" + ("" if row["flags"] & FULL_SEARCH else ", a fast search")
