"""A reviewed game: evaluations of its positions, losses of its moves, better lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

from pyengine.base.arrays import Floats
from pyengine.data.game_file import GameFile
from pyengine.games.board_layout import game_look

_WORST = 10  # moves
_LEAST_WIN_RATE, _LEAST_POINTS = 0.005, 1.0  # less is within the accuracy of a search


class MoveClass(StrEnum):
    """How good a move is, by the win rate that it loses."""

    best = "best"
    good = "good"
    inaccuracy = "inaccuracy"
    mistake = "mistake"
    blunder = "blunder"


#: The least win rate lost by each class of bad moves.
LEAST_LOSS = {MoveClass.blunder: 0.2, MoveClass.mistake: 0.1, MoveClass.inaccuracy: 0.05}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The evaluation of a position, for the first player.

    Attributes:
        win_rate: in [0, 1]; a draw counts as half.
        score: the expected lead in points, komi included: the mean of the network's predictions
            along the best line; None if the network predicts none.
        proven: 1, 0 or -1 if a win, a draw or a loss of the first player is certain, else None.
        simulations: of the search; 0 at the end of the game.
        discs: the stones of both players, in Othello alone.
        ownership: float32 [H,W] in [-1, 1], 1 = the first player's point; None if not predicted.
    """

    win_rate: float
    score: float | None = None
    proven: int | None = None
    simulations: int = 0
    discs: tuple[int, int] | None = None
    ownership: Floats | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values; the ownership has two decimals."""
        owned = None
        if self.ownership is not None:
            owned = [[round(float(x), 2) for x in row] for row in self.ownership]
        return {**vars(self), "ownership": owned}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A move that the search considered.

    Attributes:
        actions: the move and the expected continuation.
        names: the same by name.
        visits: simulations through the move.
        prior: the network's probability of the move.
        win_rate: of the first player after the move, in [0, 1].
    """

    actions: tuple[int, ...]
    names: tuple[str, ...]
    visits: int
    prior: float
    win_rate: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        return {**vars(self), "actions": list(self.actions), "names": list(self.names)}


@dataclass(frozen=True, kw_only=True)
class ReviewedMove:
    """A move of the game.

    Attributes:
        number: from 1.
        player: 0 or 1.
        action: the move.
        name: the move by name.
        before: the evaluation of the position in which it was played; None if not searched.
        after: the evaluation of the next position; None if not searched.
        candidates: the best moves instead of it, the best one first; empty if not searched.
        rank: of the move among those that the search visited, 1 = the best; None if not visited.
    """

    number: int
    player: int
    action: int
    name: str
    before: Evaluation | None
    after: Evaluation | None
    candidates: tuple[Candidate, ...]
    rank: int | None

    @property
    def best(self) -> Candidate | None:
        """The engine's choice; None if the position was not searched."""
        return self.candidates[0] if self.candidates else None

    @property
    def alternative(self) -> Candidate | None:
        """The engine's choice if it differs from the move; None also if the loss is unknown."""
        return None if self.rank == 1 or self.win_rate_lost is None else self.best

    @property
    def win_rate_lost(self) -> float | None:
        """The win rate that the move cost its player, at least 0; 0 for the engine's choice."""
        if self.before is None or self.after is None or self.best is None:
            return None
        return self._lost(self.before.win_rate, self.after.win_rate)

    @property
    def points_lost(self) -> float | None:
        """The points that the move cost its player; None if the network predicts no score."""
        if self.win_rate_lost is None or self.before is None or self.after is None:
            return None
        if self.before.score is None or self.after.score is None:
            return None
        return self._lost(self.before.score, self.after.score)

    def _lost(self, before: float, after: float) -> float:
        if self.rank == 1:
            return 0.0
        return max(0.0, before - after if self.player == 0 else after - before)

    @property
    def is_lossy(self) -> bool:
        """Whether the move lost more than the accuracy of a search."""
        win_rate, points = self.win_rate_lost or 0.0, self.points_lost or 0.0
        return win_rate >= _LEAST_WIN_RATE or points >= _LEAST_POINTS

    @property
    def move_class(self) -> MoveClass | None:
        """The class of the move; None if its loss is unknown."""
        lost = self.win_rate_lost
        if lost is None:
            return None
        if self.rank == 1:
            return MoveClass.best
        classes = (name for name, least in LEAST_LOSS.items() if lost >= least)
        return next(classes, MoveClass.good)

    def to_dict(self, player: str) -> dict[str, Any]:
        """Return JSON-compatible values, with the player's name."""
        return {
            "number": self.number,
            "player": player,
            "move": self.name,
            "action": self.action,
            "win_rate_lost": self.win_rate_lost,
            "points_lost": self.points_lost,
            "class": self.move_class,
            "rank": self.rank,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The moves of a player: how many of each class, and what they lost on average."""

    player: str  #: the colour, with the name from the file
    moves: int
    win_rate_lost: float | None  #: mean of a move; None without moves
    points_lost: float | None
    classes: dict[MoveClass, int]


@dataclass(frozen=True, kw_only=True)
class Review:
    """The review of a game.

    Attributes:
        file: the game.
        model: the name of the evaluator.
        evaluations: of the position before each move and of the last one; None if not searched.
        moves: the moves with their losses.
        simulations: the budget of each position; None if only the time was limited.
        rows: positions evaluated by the network or by playouts.
        seconds: wall-clock time.
        complete: whether every position had its whole budget.
        notes: remarks about the file and the review.
    """

    file: GameFile
    model: str
    evaluations: tuple[Evaluation | None, ...]
    moves: tuple[ReviewedMove, ...]
    simulations: int | None
    rows: int
    seconds: float
    complete: bool
    notes: tuple[str, ...] = ()

    @property
    def colours(self) -> tuple[str, str]:
        """The players' colours, such as Black and White."""
        return game_look(self.file.game).names

    @property
    def has_score(self) -> bool:
        """Whether the network predicts a score."""
        return any(e is not None and e.score is not None for e in self.evaluations)

    def worst(self, limit: int = _WORST) -> list[ReviewedMove]:
        """Return the moves that lost most, by win rate, then by points."""

        def loss(move: ReviewedMove) -> tuple[float, float]:
            return move.win_rate_lost or 0.0, move.points_lost or 0.0

        lossy = [move for move in self.moves if move.is_lossy]
        return sorted(lossy, key=loss, reverse=True)[:limit]

    def summary(self, player: int) -> Summary:
        """Return a player's losses."""
        moves = [m for m in self.moves if m.player == player and m.win_rate_lost is not None]
        counted = Counter(move.move_class for move in moves)
        name = self.file.players[player]
        return Summary(
            player=f"{self.colours[player]} ({name})" if name else self.colours[player],
            moves=len(moves),
            win_rate_lost=_mean([m.win_rate_lost for m in moves]),
            points_lost=_mean([m.points_lost for m in moves]),
            classes={each: counted[each] for each in MoveClass},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        file = self.file
        return {
            "game": str(file.game),
            "players": list(file.players),
            "result": file.result,
            "model": self.model,
            "simulations": self.simulations,
            "rows": self.rows,
            "seconds": self.seconds,
            "complete": self.complete,
            "notes": list(self.notes),
            "start": file.start.serialize(),
            "worst": [move.number for move in self.worst()],
            "summary": [vars(self.summary(player)) for player in (0, 1)],
            "moves": [move.to_dict(self.colours[move.player]) for move in self.moves],
            "positions": [e and e.to_dict() for e in self.evaluations],
        }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
