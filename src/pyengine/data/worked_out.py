"""What is worked out from the records of a game: targets from later moves, chances by surprise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.final_board import FinalBoards, final_boards, game_of, has_score
from pyengine.data.layout import CUT_SHORT, FULL_SEARCH, VALUE_ALONE, Layout, Rows
from pyengine.data.shards import ShardMaps
from pyengine.data.source import Piece
from pyengine.data.view import View

__all__ = ["WorkedOut", "replies", "short_values", "surprise_weights"]


def replies(rows: Rows) -> npt.NDArray[np.int32]:
    """Return for each record of whole games the number of the one that is the opponent's reply.

    That is the next record of the game, where the other player moved one ply later; its search may
    have been a fast one. -1 where there is none, where that record teaches the value alone, and
    where its root value is -1: the visits of a proven loss say nothing, and those of a fast search
    have no flag. Proven draws of fast searches stay in.
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
    """Return the values of some plies on, of each record of whole games.

    For a horizon h the mean of the root values from this record on, weighted with ``λ^k (1 - λ)``,
    k records later, ``λ = h / (1 + h)``: h is the mean of k. The outcome of the game has the weight
    that is left at its end [Wu, KataGoMethods.md, "Short-term Value and Score Targets"], or its
    last root value where the game was cut short.

    Returns:
        float32[N, len(horizons)], for the player to move at the record.

    """
    sign = 1.0 - 2.0 * rows["to_move"][:, None]  # to values for the first player
    roots = sign * np.clip(rows["root_value"], -1, 1)[:, None]
    share = 1.0 / (1.0 + np.array(horizons, np.float64))
    begins, ends = _games(rows)
    decided = (rows["flags"] & CUT_SHORT)[:, None] == 0
    last = np.where(decided, sign * rows["value"][:, None], roots)[ends - 1]
    mean = np.repeat(last, len(horizons), axis=1)
    found = np.empty((len(rows), len(horizons)))
    for back in range(1, int((ends - begins).max(initial=0)) + 1):
        going = np.flatnonzero(ends - begins >= back)
        at = ends[going] - back
        mean[going] += share * (roots[at] - mean[going])
        found[at] = mean[going]
    return (sign * found).astype(np.float32)


def surprise_weights(rows: Rows, share: float) -> npt.NDArray[np.float32]:
    """Return how often a record is drawn, float32[N]; 1 on average, and of each game.

    Of the records that have a policy target a game's weight is given out again: ``1 - share`` of
    it equally, ``share`` in proportion to their surprise [Wu, KataGoMethods.md, "Policy Surprise
    Weighting": 0.5]. Others keep the weight 1.
    """
    begins, ends = _games(rows)
    taught = (rows["flags"] & (FULL_SEARCH | VALUE_ALONE)) == FULL_SEARCH
    surprise = np.where(taught, rows["surprise"].astype(np.float64), 0.0)
    lengths = ends - begins
    if len(rows) == 0:
        return np.ones(0, np.float32)
    total = np.add.reduceat(surprise, begins)
    count = np.add.reduceat(taught.astype(np.float64), begins)
    scale = np.divide(count, total, out=np.zeros_like(total), where=total > 0)
    moved = share * (surprise * np.repeat(scale, lengths) - 1.0)
    return (1.0 + np.where(taught & np.repeat(total > 0, lengths), moved, 0.0)).astype(np.float32)


def _games(rows: Rows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first record of each game, and the one after its last.

    Within a game plies increase; games that follow each other may have the same number.
    """
    if len(rows) == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    new = (rows["game"][1:] != rows["game"][:-1]) | (rows["ply"][1:] <= rows["ply"][:-1])
    begins = np.flatnonzero(np.append(True, new))
    return begins, np.append(begins, len(rows))[1:]


@dataclass(frozen=True)
class _OfShard:
    """Columns beside the records of a shard."""

    reply: npt.NDArray[np.int32] | None
    values: npt.NDArray[np.float32] | None
    weights: npt.NDArray[np.float32] | None
    boards: FinalBoards | None
    game: npt.NDArray[np.int32] | None  # of each record, among the shard's


class WorkedOut:
    """What is worked out for some rows; that of a shard is kept while it is in the window.

    It pickles without what it keeps.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        reply: bool,
        horizons: tuple[float, ...],
        surprise_weight: float,
        final_board: bool,
    ) -> None:
        """Say what is wanted. Raises ConfigError for a game without a final board."""
        self.reply, self.horizons, self.surprise_weight = reply, horizons, surprise_weight
        self.final_board = final_board
        self._layout = layout
        self.scored = final_board and has_score(game_of(layout))  #: whether there are points
        self._known: dict[Path, _OfShard] = {}
        self._chances: tuple[View, npt.NDArray[np.float64]] | None = None

    def keep(self, paths: Iterable[Path]) -> None:
        """Forget all other shards."""
        known = self._known
        self._known = {path: known[path] for path in paths if path in known}

    def reply_visits(
        self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps
    ) -> npt.NDArray[np.uint16]:
        """Return the visits of the replies, uint16[N,A]; zeros where there is none."""
        visits = np.zeros((len(rows), self._layout.actions), np.uint16)
        for where, piece, at in view.located(rows):
            shard, known = self._of(piece, maps)
            reply = known.reply
            assert reply is not None
            numbers = reply[at]
            visits[where[numbers >= 0]] = shard["visits"][numbers[numbers >= 0]]
        return visits

    def values(
        self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps
    ) -> npt.NDArray[np.float32]:
        """Return the values of some plies on, float32[N, len(horizons)]."""
        found = np.empty((len(rows), len(self.horizons)), np.float32)
        for where, piece, at in view.located(rows):
            values = self._of(piece, maps)[1].values
            assert values is not None
            found[where] = values[at]
        return found

    def final_boards(self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps) -> FinalBoards:
        """Return the last boards of the games of N rows, for the player to move at each row."""
        boards = FinalBoards(
            np.zeros((len(rows), *self._layout.board), np.int8),
            np.zeros(len(rows), np.float32),
            np.zeros(len(rows), np.bool_),
        )
        for where, piece, at in view.located(rows):
            shard, known = self._of(piece, maps)
            assert known.boards is not None
            assert known.game is not None
            games = known.game[at]
            sign = 1 - 2 * shard["to_move"][at].astype(np.int8)
            boards.owner[where] = known.boards.owner[games] * sign[:, None, None]
            boards.score[where] = known.boards.score[games] * sign
            boards.ended[where] = known.boards.ended[games]
        return boards

    def chances(self, view: View, maps: ShardMaps) -> npt.NDArray[np.float64] | None:
        """Return the sums of the weights of the rows before each, and of all; None = all equal."""
        if self.surprise_weight == 0:
            return None
        known = self._chances
        if known is None or known[0] is not view:
            weights = [np.zeros(1)]
            for _, piece, at in view.located(np.arange(len(view))):
                of_shard = self._of(piece, maps)[1].weights
                assert of_shard is not None
                weights.append(of_shard[at].astype(np.float64))
            known = self._chances = (view, np.cumsum(np.concatenate(weights)))
        return known[1]

    def _of(self, piece: Piece, maps: ShardMaps) -> tuple[Rows, _OfShard]:
        shard = maps.rows(piece.path, self._layout, piece.shard.positions)
        found = self._known.get(piece.path)
        if found is None:
            share = self.surprise_weight
            boards, game = self._boards(piece) if self.final_board else (None, None)
            found = self._known[piece.path] = _OfShard(
                replies(shard) if self.reply else None,
                short_values(shard, self.horizons) if self.horizons else None,
                surprise_weights(shard, share) if share > 0 else None,
                boards,
                game,
            )
        return shard, found

    def _boards(self, piece: Piece) -> tuple[FinalBoards, npt.NDArray[np.int32]]:
        """Return the last boards of the games of a shard, and of which of them each record is."""
        lines = piece.lines()
        game = np.repeat(np.arange(len(lines), dtype=np.int32), [line.positions for line in lines])
        return final_boards(game_of(self._layout), lines), game

    def __getstate__(self) -> dict[str, Any]:
        """Each process works out its own."""
        return {**self.__dict__, "_known": {}, "_chances": None}
