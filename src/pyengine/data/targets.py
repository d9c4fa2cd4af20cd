"""Targets from the rest of a game (replies, short-term values, last boards); surprise weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import CUT_SHORT, FULL_SEARCH, VALUE_ALONE, Layout, Rows
from pyengine.data.record import GameLine
from pyengine.data.shards import ShardMaps
from pyengine.data.unpack import Batch
from pyengine.data.window import Piece, View
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State
from pyengine.games.go_area import owners

_OWNERS = {"X": 1, "O": -1, ".": 0}


def replies(rows: Rows) -> npt.NDArray[np.int32]:
    """Return the index of the opponent's reply for each record of whole games, or -1.

    The reply is the next record of the game if the other player moved one ply later, even after a
    fast search. Records that are targets for the value only do not count, nor do records with a
    root value of -1: the visits of a proven loss are meaningless, and a fast search has no flag
    for it.
    """
    numbers = np.full(len(rows), -1, np.int32)
    before, after = rows[:-1], rows[1:]
    follows = (
        (after["game"] == before["game"])
        & (after["ply"] == before["ply"].astype(np.int64) + 1)
        & (after["to_move"] != before["to_move"])
        & ((after["flags"] & VALUE_ALONE) == 0)
        & (after["root_value"] > -1)
    )
    numbers[:-1][follows] = np.flatnonzero(follows) + 1
    return numbers


def short_values(rows: Rows, horizons: tuple[float, ...]) -> npt.NDArray[np.float32]:
    """Return float32[N, len(horizons)]: short-term values for the player to move at each record.

    For a horizon h, this is the mean of the root values from this record on. The value k records
    later has the weight ``λ^k (1 - λ)`` with ``λ = h / (1 + h)``, so h is the mean of k. The
    remaining weight goes to the outcome of the game, or to its last root value if it was cut short
    [Wu, KataGoMethods.md, "Short-term Value and Score Targets"].
    """
    sign = 1.0 - 2.0 * rows["to_move"][:, None]  # to values for the first player
    roots = sign * np.clip(rows["root_value"], -1, 1)[:, None]
    share = 1.0 / (1.0 + np.array(horizons, np.float64))
    begins, ends = _games(rows)
    decided = (rows["flags"] & CUT_SHORT)[:, None] == 0
    last = np.where(decided, sign * rows["value"][:, None], roots)[ends - 1]
    mean = np.repeat(last, len(horizons), axis=1)
    values = np.empty((len(rows), len(horizons)))
    for back in range(1, int((ends - begins).max(initial=0)) + 1):
        going = np.flatnonzero(ends - begins >= back)
        at = ends[going] - back
        mean[going] += share * (roots[at] - mean[going])
        values[at] = mean[going]
    return (sign * values).astype(np.float32)


def surprise_weights(rows: Rows, share: float) -> npt.NDArray[np.float32]:
    """Return float32[N]: sampling weights of records; the mean over a game is 1.

    The total weight of a game's policy targets is redistributed: ``1 - share`` of it equally,
    ``share`` in proportion to their surprise [Wu, KataGoMethods.md, "Policy Surprise Weighting":
    0.5]. Other records have the weight 1.
    """
    if len(rows) == 0:
        return np.ones(0, np.float32)
    begins, ends = _games(rows)
    taught = (rows["flags"] & (FULL_SEARCH | VALUE_ALONE)) == FULL_SEARCH
    surprise = np.where(taught, rows["surprise"].astype(np.float64), 0.0)
    lengths = ends - begins
    total = np.add.reduceat(surprise, begins)
    count = np.add.reduceat(taught.astype(np.float64), begins)
    scale = np.divide(count, total, out=np.zeros_like(total), where=total > 0)
    moved = share * (surprise * np.repeat(scale, lengths) - 1.0)
    return (1.0 + np.where(taught & np.repeat(total > 0, lengths), moved, 0.0)).astype(np.float32)


def _games(rows: Rows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the bounds of each game: its first record, and one past its last.

    Plies increase within a game; consecutive games may have the same number.
    """
    if len(rows) == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    new = (rows["game"][1:] != rows["game"][:-1]) | (rows["ply"][1:] <= rows["ply"][:-1])
    begins = np.flatnonzero(np.append(True, new))
    return begins, np.append(begins, len(rows))[1:]


def has_score(game: Game) -> bool:
    """Return whether points decide the game, as in Go and Othello."""
    return game.has_board and game.name in ("go", "othello")


def final_boards(game: Game, lines: Sequence[GameLine]) -> Batch:
    """Return the last boards of G games, computed by replaying their moves.

    A point belongs to the player with a stone on it, in Go to the player who owns it by area. The
    score is the difference of these points, in Go minus komi. There is no target if the game ended
    by resignation, was cut short, or has a recorded result that contradicts the last board, as in
    human games scored after removing dead stones.

    Returns:
        ``ownership`` int8[G,H,W], top row first: 1 for points of the first player, -1 for points
        of the second, else 0; ``score`` float32[G], the lead of the first player, 0 in games
        without points; ``ended`` bool[G], whether the other two are targets (if not, they are 0).

    """
    ownership = np.zeros((len(lines), *game.board_shape), np.int8)
    score = np.zeros(len(lines), np.float32)
    ended = np.zeros(len(lines), np.bool_)
    komi = float(game.params.get("komi", 0.0))
    for number, line in enumerate(lines):
        state = _ended(game, line)
        if state is None:
            continue
        ended[number] = True
        ownership[number] = (
            owners(state)
            if game.name == "go"
            else [[_OWNERS[stone] for stone in row] for row in state.board_rows()]
        )
        if has_score(game):
            score[number] = int(ownership[number].sum(dtype=np.int64)) - komi
    return {"ownership": ownership, "score": score, "ended": ended}


def _ended(game: Game, line: GameLine) -> State | None:
    """Return the last state of a game if it was played to its end; else None."""
    if line.resigned >= 0 or line.cut_short:
        return None
    try:
        state = line.start_state(game)
        for action in line.moves:
            state.apply_action(action)
    except ValueError:  # ConfigError or IllegalActionError; the data may come from other programs
        return None
    return state if state.is_terminal() and tuple(state.returns()) == line.returns else None


class Targets:
    """Computes targets shard by shard and caches them for shards in the window.

    Pickling leaves out the cache.
    """

    def __init__(
        self,
        layout: Layout,
        maps: ShardMaps,
        *,
        reply: bool,
        horizons: tuple[float, ...],
        surprise_weight: float,
        final_board: bool,
    ) -> None:
        """Choose the targets. Raises ConfigError for a game without a final board."""
        self._horizons = horizons
        self._reply = reply
        self.surprise_weight = surprise_weight
        self._final_board = final_board
        self._layout = layout
        self._maps = maps
        self._scored = False
        if final_board:
            game = layout.load_game()
            if not game.has_board:
                raise ConfigError(
                    f"final_board: expected data of a built-in game with a board, got {game}"
                )
            self._scored = has_score(game)
        self._known: dict[Path, Batch] = {}
        self._chances: tuple[View, npt.NDArray[np.float64]] | None = None

    def keep(self, paths: Iterable[Path]) -> None:
        """Drop the cached targets of all other shards."""
        known = self._known
        self._known = {path: known[path] for path in paths if path in known}

    def columns(self, view: View, rows: npt.NDArray[np.int64]) -> Batch:
        """Return the targets of N rows, for the player to move.

        They are named as in :class:`~pyengine.Dataset`, but ``reply`` are visits uint16[N,A], and
        ``ownership`` has the top row first.
        """
        count, layout = len(rows), self._layout
        columns: Batch = {}
        if self._reply:
            columns["reply"] = np.zeros((count, layout.actions), np.uint16)
        if self._horizons:
            columns["short_values"] = np.empty((count, len(self._horizons)), np.float32)
        if self._final_board:
            columns["ownership"] = np.empty((count, *layout.board), np.int8)
            columns["ended"] = np.empty(count, np.bool_)
        if self._scored:
            columns["score"] = np.empty(count, np.float32)
        if not columns:
            return columns
        for where, piece, at in view.located(rows):
            shard, known = self._of(piece)
            if self._reply:
                reply = known["reply"][at]
                columns["reply"][where[reply >= 0]] = shard["visits"][reply[reply >= 0]]
            if self._horizons:
                columns["short_values"][where] = known["short_values"][at]
            if self._final_board:
                games = known["game"][at]
                sign = 1 - 2 * shard["to_move"][at].astype(np.int8)
                columns["ownership"][where] = known["ownership"][games] * sign[:, None, None]
                columns["ended"][where] = known["ended"][games]
                if self._scored:
                    columns["score"][where] = known["score"][games] * sign
        return columns

    def chances(self, view: View) -> npt.NDArray[np.float64] | None:
        """Return cumulative weights of the rows, starting with 0; None if all are equal."""
        if self.surprise_weight == 0:
            return None
        known = self._chances
        if known is None or known[0] is not view:
            weights = [np.zeros(1)]
            for _, piece, at in view.located(np.arange(len(view))):
                weights.append(self._of(piece)[1]["weight"][at].astype(np.float64))
            known = self._chances = (view, np.cumsum(np.concatenate(weights)))
        return known[1]

    def _of(self, piece: Piece) -> tuple[Rows, Batch]:
        """Return the records of a shard, and the targets by record, last boards by game."""
        shard = self._maps.rows(piece.path, piece.shard.positions)
        known = self._known.get(piece.path)
        if known is None:
            known = self._known[piece.path] = self._computed(piece, shard)
        return shard, known

    def _computed(self, piece: Piece, shard: Rows) -> Batch:
        columns: Batch = {}
        if self._reply:
            columns["reply"] = replies(shard)
        if self._horizons:
            columns["short_values"] = short_values(shard, self._horizons)
        if self.surprise_weight > 0:
            columns["weight"] = surprise_weights(shard, self.surprise_weight)
        if self._final_board:
            lines = piece.lines()
            columns |= final_boards(self._layout.load_game(), lines)
            games = np.arange(len(lines), dtype=np.int32)
            columns["game"] = np.repeat(games, [line.positions for line in lines])
        return columns

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}, "_chances": None}
