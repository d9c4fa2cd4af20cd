"""Games of training data as SGF, to be looked at."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.arguments import check_callback, check_flag, elements, found, in_one_line
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
from pyengine.data.source import Piece, Source, newest
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State

__all__ = ["export_sgf"]

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
    """Write games of Go or Gomoku as SGF, a file each.

    Args:
        directory: of shards.
        out: directory to write to; None = ``DIRECTORY-sgf`` beside the other.
        games: the newest so many, or the numbers of some; None = all.
        comments: say of each recorded position what search and network thought of it.
        overwrite: write to a directory that has files already, in their place.
        on_progress: called with games done and all games; without it a terminal shows them.

    Returns:
        The files, in the order of the games.

    Raises:
        ConfigError: the game is another, ``out`` has files, or a number is not there.
        DataError: a file is damaged, or one cannot be written (a full disk); says which. Games so
            far are kept, of that one nothing.
        EngineError: sgfmill is missing; names the extra ``sgf``.

    """
    check_callback("on_progress", on_progress)
    check_flag("comments", comments)
    check_flag("overwrite", overwrite)
    wanted = _numbers(games)
    source = Source(path_of("directory", directory))
    check_in_sgf(source.manifest.layout.game)
    game = source.manifest.layout.load_game()
    grammar()
    chosen = _chosen(source, wanted)
    target = fresh_directory(out, source.directory, "sgf", overwrite)
    maps = ShardMaps()
    files = []
    for one in tracked(chosen, len(chosen), "SGF files", on_progress):
        shard = maps.rows(one.piece.path, source.manifest.layout, one.piece.shard.positions)
        rows = shard[one.begin : one.begin + one.line.positions]
        path = target / f"game-{one.line.number:06d}.sgf"
        text = _text(game, one.line, rows if comments else rows[:0])
        with replacing(path) as temporary:
            temporary.write_bytes(text)
        files.append(path)
    return files


@dataclass(frozen=True)
class _Place:
    """Where a game is: its shard, and its first record there."""

    piece: Piece
    begin: int
    line: GameLine


def _numbers(games: Any) -> int | list[int] | None:
    """Checked. Raises ConfigError."""
    if games is None:
        return None
    expected = "how many games, or the numbers of some"
    if isinstance(games, Sequence | np.ndarray) and not isinstance(games, str | bytes):
        return [integer("games", number, 0) for number in elements("games", games, expected)]
    if isinstance(games, Integral):
        return integer("games", games, 0)
    raise ConfigError(f"games: expected {expected}, found {found(games)}")


def _chosen(source: Source, games: int | list[int] | None) -> list[_Place]:
    limit = games if isinstance(games, int) else None
    places = [place for piece in newest(source.pieces, limit) for place in _places(piece)]
    if games is None or isinstance(games, int):
        return places
    by_number = {place.line.number: place for place in places}
    for number in games:
        if number not in by_number:
            raise ConfigError(
                f"{source.directory} has no game {in_one_line(number)}; found {len(places)} games"
            )
    return [by_number[number] for number in games]


def _places(piece: Piece) -> list[_Place]:
    lines = piece.lines()
    ends = np.cumsum([line.positions for line in lines], dtype=np.int64)
    pairs = list(zip(ends, lines, strict=True))[piece.skipped :]
    return [_Place(piece, int(end) - line.positions, line) for end, line in pairs]


def _text(game: Game, line: GameLine, rows: Rows) -> bytes:
    start = line.start_state(game)
    thoughts = {int(row["ply"]): row for row in rows}
    comments, state = {}, start.clone()
    for ply, action in enumerate(line.moves):
        if ply in thoughts:
            comments[ply] = _comment(state, thoughts[ply])
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
    """What was thought before the move; values are for the player who makes it."""
    visits = row["visits"]
    total = max(int(visits.sum()), 1)
    best = [a for a in np.argsort(-visits.astype(np.int64), kind="stable")[:_SHOWN] if visits[a]]
    shares = ", ".join(f"{state.action_to_string(int(a))} {visits[a] / total:.0%}" for a in best)
    text = f"value {row['root_value']:+.3f}"
    if not math.isnan(row["network_value"]):
        text += f", network {row['network_value']:+.3f}"
    return f"{text}, visits {shares}" + ("" if row["flags"] & FULL_SEARCH else ", a fast search")
