"""Targets from the rest of a game (replies, short-term values, last boards); surprise weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import CUT_SHORT, FULL_SEARCH, VALUE_ALONE, Layout, Rows
from pyengine.data.record import GameLine
from pyengine.data.shards import ShardMaps
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


@dataclass(frozen=True)
class FinalBoards:
    """The last boards of G games.

    Attributes:
        owner: int8[G,H,W], top row first: 1 for points of the first player, -1 for points of the
            second, else 0.
        score: float32[G], lead of the first player in points; 0 in games without points.
        ended: bool[G], whether the game was played to its end with the recorded result; if not,
            owner and score are 0.
    """

    owner: npt.NDArray[np.int8]
    score: npt.NDArray[np.float32]
    ended: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, games: int, board: tuple[int, int]) -> FinalBoards:
        """Return boards without targets."""
        owner = np.zeros((games, *board), np.int8)
        return cls(owner, np.zeros(games, np.float32), np.zeros(games, np.bool_))


def has_stones(game: Game) -> bool:
    """Return whether the engine knows the stones on the board (not in user-defined games)."""
    return game.has_board


def has_score(game: Game) -> bool:
    """Return whether points decide the game, as in Go and Othello."""
    return has_stones(game) and game.name in ("go", "othello")


def game_of(layout: Layout) -> Game:
    """Return the game of a layout. Raises ConfigError if the engine does not know its board."""
    game = layout.load_game()
    if not has_stones(game):
        raise ConfigError(f"final_board: expected data of a built-in game with a board, got {game}")
    return game


def final_boards(game: Game, lines: Sequence[GameLine]) -> FinalBoards:
    """Return the last boards of games, computed by replaying their moves.

    A point belongs to the player with a stone on it, in Go to the player who owns it by area. The
    score is the difference of these points, in Go minus komi. There is no target if the game ended
    by resignation, was cut short, or has a recorded result that contradicts the last board, as in
    human games scored after removing dead stones.
    """
    boards = FinalBoards.empty(len(lines), game.board_shape)
    komi = float(game.params.get("komi", 0.0))
    for number, line in enumerate(lines):
        state = _ended(game, line)
        if state is None:
            continue
        boards.ended[number] = True
        boards.owner[number] = (
            owners(state)
            if game.name == "go"
            else [[_OWNERS[stone] for stone in row] for row in state.board_rows()]
        )
        if has_score(game):
            boards.score[number] = int(boards.owner[number].sum(dtype=np.int64)) - komi
    return boards


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


@dataclass(frozen=True)
class _ShardTargets:
    """Targets for the records of a shard. Columns that were not requested are empty."""

    reply: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]
    boards: FinalBoards
    game: npt.NDArray[np.int32]  # for each record, the index of its game in the shard


class Targets:
    """Computes targets shard by shard and caches them for shards in the window.

    Pickling leaves out the cache.
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
        """Choose the targets. Raises ConfigError for a game without a final board."""
        self.reply, self.horizons, self.surprise_weight = reply, horizons, surprise_weight
        self.final_board = final_board
        self._layout = layout
        self.scored = final_board and has_score(game_of(layout))
        self._known: dict[Path, _ShardTargets] = {}
        self._chances: tuple[View, npt.NDArray[np.float64]] | None = None

    def keep(self, paths: Iterable[Path]) -> None:
        """Drop the cached targets of all other shards."""
        known = self._known
        self._known = {path: known[path] for path in paths if path in known}

    def reply_visits(
        self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps
    ) -> npt.NDArray[np.uint16]:
        """Return the visits of the replies, uint16[N,A]; zeros for rows without a reply."""
        visits = np.zeros((len(rows), self._layout.actions), np.uint16)
        for where, piece, at in view.located(rows):
            shard, known = self._of(piece, maps)
            numbers = known.reply[at]
            visits[where[numbers >= 0]] = shard["visits"][numbers[numbers >= 0]]
        return visits

    def values(
        self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps
    ) -> npt.NDArray[np.float32]:
        """Return the short-term values, float32[N, len(horizons)]."""
        values = np.empty((len(rows), len(self.horizons)), np.float32)
        for where, piece, at in view.located(rows):
            values[where] = self._of(piece, maps)[1].values[at]
        return values

    def final_boards(self, view: View, rows: npt.NDArray[np.int64], maps: ShardMaps) -> FinalBoards:
        """Return the last board for each row, from the perspective of its player to move."""
        boards = FinalBoards.empty(len(rows), self._layout.board)
        for where, piece, at in view.located(rows):
            shard, known = self._of(piece, maps)
            games = known.game[at]
            sign = 1 - 2 * shard["to_move"][at].astype(np.int8)
            boards.owner[where] = known.boards.owner[games] * sign[:, None, None]
            boards.score[where] = known.boards.score[games] * sign
            boards.ended[where] = known.boards.ended[games]
        return boards

    def chances(self, view: View, maps: ShardMaps) -> npt.NDArray[np.float64] | None:
        """Return cumulative weights of the rows, starting with 0; None if all are equal."""
        if self.surprise_weight == 0:
            return None
        known = self._chances
        if known is None or known[0] is not view:
            weights = [np.zeros(1)]
            for _, piece, at in view.located(np.arange(len(view))):
                weights.append(self._of(piece, maps)[1].weights[at].astype(np.float64))
            known = self._chances = (view, np.cumsum(np.concatenate(weights)))
        return known[1]

    def _of(self, piece: Piece, maps: ShardMaps) -> tuple[Rows, _ShardTargets]:
        shard = maps.rows(piece.path, self._layout, piece.shard.positions)
        known = self._known.get(piece.path)
        if known is None:
            none, share = shard[:0], self.surprise_weight
            boards, game = self._boards(piece.lines() if self.final_board else [])
            known = self._known[piece.path] = _ShardTargets(
                replies(shard if self.reply else none),
                short_values(shard if self.horizons else none, self.horizons),
                surprise_weights(shard if share > 0 else none, share),
                boards,
                game,
            )
        return shard, known

    def _boards(self, lines: Sequence[GameLine]) -> tuple[FinalBoards, npt.NDArray[np.int32]]:
        """Return the last boards of a shard's games, and the game index of each record."""
        game = np.repeat(np.arange(len(lines), dtype=np.int32), [line.positions for line in lines])
        if not lines:
            return FinalBoards.empty(0, self._layout.board), game
        return final_boards(game_of(self._layout), lines), game

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}, "_chances": None}
