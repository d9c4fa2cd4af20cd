"""A finished game: its records, its line in the list of games, and who takes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_flag, check_type, number, repr_with_type
from pyengine.base.integers import integer
from pyengine.data.checked import BOOLEAN, TEXT, check, list_of, real, text_of, whole, wholes
from pyengine.data.layout import (
    CUT_SHORT,
    FULL_SEARCH,
    RESIGNATION_OFF,
    RESIGNED,
    VALUE_ALONE,
    Layout,
    Rows,
)
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State

#: Columns with a number per position.
_NUMBERS = ("root_value", "network_value", "ply", "action", "to_move", "full")

#: The largest number in columns of whole numbers.
_LARGEST = {"bits": 255, "visits": 65_535, "ply": 65_535, "to_move": 1, "full": 1, "taught": 1}

_ROUNDING = 1e-6  # of returns in float32
_MOST_SURPRISE = float(np.finfo(np.float16).max)

#: What the line of a game must say, and what it may say.
_LINE_FIELDS = {
    "number": whole(0, 2**32 - 1),
    "positions": whole(0, 2**63 - 1),
    "full": text_of("[01]*", "text of 0 and 1"),
    "returns": list_of(real(-1, 1), 2),
    "resigned": whole(-1, 1),
    "resignation_off": BOOLEAN,
    "cut_short": BOOLEAN,
    "moves": wholes(0, 2**16 - 1),
}
_OPTIONAL = {"lowest": real(-1, 1), "start": TEXT}


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedGame:
    """A game that is over; each column has a row for each of its n recorded positions.

    Attributes:
        number: of the game within the run; below 2^32.
        returns: what the players got, each in [-1, 1]; they sum to 0.
        moves: uint16[plies], all of them, opening moves included.
        start: ``State.serialize()`` of the position before the first move, such as that of a
            handicap; None for the game's own.
        resigned: the player who resigned; -1 = nobody.
        resignation_off: nobody could resign, so that false resignations are counted.
        cut_short: the game ended without a result, by ``max_plies`` in self-play: the returns are
            0 and no value targets.
        lowest: in a game with ``resignation_off`` the smallest value, in [-1, 1], of a side that
            did not lose, over its moves; the value of a move is the larger of those of the root and
            of its most visited child. None if unknown.
        taught: uint8[n]: 0 = the visits of this full search are no policy target; None = those of
            all full searches are.
        surprise: float32[n]: KL(policy target || priors without noise) in nats, 0 where the visits
            are no target; needed if it is recorded.
        bits: uint8[n,P,B]: planes of 0 and 1, see :class:`Layout`.
        fill: float32[n,F]: planes of one number.
        dense: float32[n,D,H*W]: planes with a number per point.
        visits: uint16[n,A]: visits by action, scaled down if one exceeds 65,535; after a Gumbel
            search the improved policy in units of 1/65,535.
        root_value: float32[n]: the search's value for the player to move.
        network_value: float32[n]: the evaluator's value before the search, for the player to move:
            0 of ``"uniform"``, the playouts' result of ``"rollout"``; NaN where there was none.
        ply: uint16[n]: moves before the position.
        action: uint16[n]: the move played, ``moves[ply]``.
        to_move: uint8[n]: the player to move.
        full: uint8[n]: 1 = a full search; 0 = a fast one, whose visits are no policy target.
    """

    number: int
    returns: tuple[float, float]
    moves: npt.NDArray[np.uint16]
    start: str | None = None
    resigned: int = -1
    resignation_off: bool = False
    cut_short: bool = False
    lowest: float | None = None
    taught: npt.NDArray[np.uint8] | None = None
    surprise: npt.NDArray[np.float32] | None = None
    bits: npt.NDArray[np.uint8]
    fill: npt.NDArray[np.float32]
    dense: npt.NDArray[np.float32]
    visits: npt.NDArray[np.uint16]
    root_value: npt.NDArray[np.float32]
    network_value: npt.NDArray[np.float32]
    ply: npt.NDArray[np.uint16]
    action: npt.NDArray[np.uint16]
    to_move: npt.NDArray[np.uint8]
    full: npt.NDArray[np.uint8]

    def records(self, layout: Layout) -> Rows:
        """Return the positions as records. Raises ConfigError that names what does not fit."""
        self._check(layout)
        rows = np.zeros(len(self.visits), layout.dtype)
        planes = [name for name, shape in layout.column_shapes.items() if shape[0] > 0]
        for name in (*planes, "visits", *_NUMBERS[:-1]):
            rows[name] = getattr(self, name)
        rows["value"] = np.asarray(self.returns, np.float32)[np.asarray(self.to_move, np.intp)]
        rows["game"] = self.number
        of_game = RESIGNED * (self.resigned >= 0) + RESIGNATION_OFF * bool(self.resignation_off)
        of_game += CUT_SHORT * bool(self.cut_short)
        rows["flags"] = np.where(self.full, FULL_SEARCH, 0) + of_game
        if self.taught is not None:
            untaught = np.equal(self.taught, 0) & np.not_equal(self.full, 0)
            rows["flags"] |= np.where(untaught, np.uint8(VALUE_ALONE), np.uint8(0))
        if layout.surprise:
            rows["surprise"] = self.surprise
        return rows

    def line(self) -> GameLine:
        """Return the game's line in the list; of a game that :meth:`records` takes."""
        return GameLine(
            number=int(self.number),
            positions=len(self.visits),
            full="".join("1" if full else "0" for full in self.full),
            returns=(float(self.returns[0]), float(self.returns[1])),
            resigned=int(self.resigned),
            resignation_off=bool(self.resignation_off),
            cut_short=bool(self.cut_short),
            moves=tuple(int(move) for move in self.moves),
            lowest=None if self.lowest is None else float(self.lowest),
            start=self.start,
        )

    def _check(self, layout: Layout) -> None:
        self._check_game()
        n = len(self._column("visits"))
        shapes = {name: (n, *shape) for name, shape in layout.column_shapes.items()}
        shapes |= {"visits": (n, layout.actions), **dict.fromkeys(_NUMBERS, (n,))}
        shapes |= {"moves": (len(self._column("moves")),)}
        optional = {"taught": self.taught is not None, "surprise": layout.surprise}
        shapes |= {name: (n,) for name, is_needed in optional.items() if is_needed}
        for name, shape in shapes.items():
            own = self._column(name).shape
            if own != shape and not (0 in own and 0 in shape):
                raise ConfigError(f"{name}: expected an array of the shape {shape}, got {own}")
        most = layout.actions - 1
        for name, largest in {**_LARGEST, "moves": most, "action": most}.items():
            if name in shapes:
                expected = f"whole numbers in 0..{largest}"
                self._require(name, expected, _are_whole(self._column(name), largest))
        with np.errstate(over="ignore"):
            root, network = (
                self._column(name).astype(np.float32) for name in ("root_value", "network_value")
            )
        self._require("root_value", "finite numbers", bool(np.all(np.isfinite(root))))
        self._require("network_value", "finite numbers or NaN", not np.any(np.isinf(network)))
        if layout.surprise:
            column = self._column("surprise")
            fits = np.all((column >= 0) & (column <= _MOST_SURPRISE))
            self._require("surprise", "numbers of at least 0", bool(fits))
        self._check_moves_and_targets()

    def _check_game(self) -> None:
        """Check what holds for the game as a whole."""
        integer("number", self.number, 0, 2**32 - 1)
        integer("resigned", self.resigned, -1, 1)
        check_flag("resignation_off", self.resignation_off)
        check_flag("cut_short", self.cut_short)
        check_type("start", self.start, str | None, "the text of a state or None")
        if self.lowest is not None:
            number("lowest", self.lowest, "a number in [-1, 1] or None", lambda v: -1 <= v <= 1)
        try:
            first, second = map(float, self.returns)
        except (TypeError, ValueError):
            first = second = np.nan
        fits = abs(first) <= 1 and abs(second) <= 1 and abs(first + second) <= _ROUNDING
        self._require("returns", "two numbers in [-1, 1] whose sum is 0", fits)
        if self.cut_short and (self.resigned >= 0 or first or second):
            raise ConfigError("cut_short: expected returns of 0 and no resignation")

    def _check_moves_and_targets(self) -> None:
        ply, moves = np.asarray(self.ply, np.intp), np.asarray(self.moves)
        fits = np.all(ply < len(moves)) and np.all(np.diff(ply) > 0)
        self._require("ply", f"increasing numbers below {len(moves)}", bool(fits))
        self._require("action", "moves[ply]", np.array_equal(moves[ply], self.action))
        taught = np.not_equal(self.full, 0)
        if self.taught is not None:
            taught &= np.not_equal(self.taught, 0)
        empty = np.flatnonzero(taught & ~self._column("visits").any(axis=1))
        if empty.size > 0:
            raise ConfigError(f"visits: row {empty[0]} is a policy target and has none")

    def _column(self, name: str) -> npt.NDArray[Any]:
        """Return a column as an array of numbers."""
        given = getattr(self, name)
        try:
            column = np.asarray(given)
        except (TypeError, ValueError):  # rows of different lengths
            column = np.asarray(None)
        is_array = column.ndim > 0 and (column.size == 0 or column.dtype.kind in "biuf")
        self._require(name, "an array of numbers", is_array)
        return column

    def _require(self, name: str, expected: str, fits: bool) -> None:
        if not fits:
            raise ConfigError(
                f"{name}: expected {expected}, got {repr_with_type(getattr(self, name))}"
            )


def _are_whole(column: npt.NDArray[Any], most: int) -> bool:
    if column.size == 0:
        return True
    if column.dtype.kind == "f" and not np.all(column == np.floor(column)):
        return False
    return bool(column.min() >= 0 and column.max() <= most)


@dataclass(frozen=True, kw_only=True)
class GameLine:
    """A game in the list beside a shard.

    Attributes:
        number: of the game within the run.
        positions: how many are recorded; they are consecutive records, games in the list's order.
        full: a ``1`` for each position of a full search, a ``0`` for each other.
        returns, resigned, resignation_off, cut_short, moves: as in :class:`FinishedGame`.
        lowest, start: the same; absent in the file if they are None.
    """

    number: int
    positions: int
    full: str
    returns: tuple[float, float]
    resigned: int
    resignation_off: bool
    cut_short: bool
    moves: tuple[int, ...]
    lowest: float | None = None
    start: str | None = None

    def start_state(self, game: Game) -> State:
        """Return the position before the first move. Raises ConfigError if there is none."""
        return (
            game.new_initial_state() if self.start is None else game.deserialize_state(self.start)
        )

    def to_json(self) -> str:
        """Return the line, its end included."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in _OPTIONAL:
            if values[name] is None:
                del values[name]
        return json.dumps(values, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> GameLine:
        """Return the game of a line. Raises ValueError that says what is wrong."""
        try:
            values = json.loads(text)
            check(values, _LINE_FIELDS)
            check(values, {name: kind for name, kind in _OPTIONAL.items() if name in values})
            if len(values["full"]) != values["positions"]:
                raise ValueError("full: expected a letter per position")
            first, second = map(float, values["returns"])
            values |= {"returns": (first, second), "moves": tuple(values["moves"])}
            return cls(**values)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"expected a game, got {text[:60]!r} ({error!r})") from error


class GameSink(AbstractContextManager[Any], Protocol):
    """Takes finished games; :class:`~pyengine.data.ShardWriter` is one. ``with`` closes it."""

    @property
    def games(self) -> int:
        """Games taken so far."""

    @property
    def positions(self) -> int:
        """Their positions."""

    @property
    def next_number(self) -> int:
        """One more than the largest number of a game."""

    def played_on(self) -> list[float]:
        """Return :attr:`FinishedGame.lowest` of the newest known games, oldest first."""

    def add(self, game: FinishedGame) -> None:
        """Take a game; one whose addition raises may be added again."""

    def tick(self) -> None:
        """Do what is due; called every second or so."""

    def set_model(self, sha256: str) -> None:
        """Say which network plays from now on."""


def selected_rows(games: Sequence[GameLine], full_only: bool) -> npt.NDArray[np.int64]:
    """Return which records of consecutive games count, the first of them being 0."""
    if not full_only:
        return np.arange(sum(game.positions for game in games))
    letters = "".join(game.full for game in games).encode()
    return np.flatnonzero(np.frombuffer(letters, np.uint8) == ord("1"))
