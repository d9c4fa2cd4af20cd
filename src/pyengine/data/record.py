"""A finished game, as self-play hands it over, and the records and the line it becomes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_flag, check_type, found, in_one_line, number
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

__all__ = ["FinishedGame", "GameLine"]

#: Columns with a number a position.
_NUMBERS = ("root_value", "network_value", "ply", "action", "to_move", "full")

#: The largest number of the columns that hold whole numbers of at least 0.
_WHOLE = {"bits": 255, "visits": 65_535, "ply": 65_535, "to_move": 1, "full": 1}

#: Columns that hold numbers of a float32; the planes of a user's game may be infinite or NaN.
_FLOATS = ("fill", "dense", "root_value", "network_value")

_ROUNDING = 1e-6  # of returns in float32
_MOST_SURPRISE = float(np.finfo(np.float16).max)

#: What the line of a game must say.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedGame:
    """A game that is over, with a row in each column for its n recorded positions.

    Attributes:
        number: of the game within the run; below 2^32.
        returns: what the players got, each in [-1, 1]; they sum to 0.
        moves: uint16[plies], all of them, opening moves included.
        start: ``State.serialize()`` of the position before the first move, if it is another than
            the game's, such as that of a handicap; else None.
        resigned: the player who resigned; -1 = nobody.
        resignation_off: nobody could resign, so that false resignations are counted.
        cut_short: the game was ended without a result, by ``max_plies`` in self-play: the returns
            are 0 and no value targets.
        lowest: the smallest value, in [-1, 1], of a side that did not lose such a game, over its
            moves, the value of a move being the larger of those of the root and of its most visited
            child; None where nobody knows.
        taught: uint8[n]: 0 = the visits of this full search are no policy target; None = those of
            all full ones are.
        surprise: float32[n]: how much the policy target said that the evaluator's priors, without
            noise, did not: its Kullback-Leibler divergence from them, in nats, 0 where the visits
            are no target; needed where it is recorded.
        bits: uint8[n,P,B]: planes of 0 and 1, see :class:`Layout`.
        fill: float32[n,F]: planes of one number.
        dense: float32[n,D,H*W]: planes with a number a point.
        visits: uint16[n,A]: visit counts by action, which self-play scales down where one exceeds
            65,535; of searches by Gumbel their improved policy in units of 1/65,535.
        root_value: float32[n]: the search's value for the player to move.
        network_value: float32[n]: the evaluator's value before any search, for the player to move:
            the network's, 0 of ``"uniform"``, the result of playouts of ``"rollout"``. NaN where
            there was none.
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
        """Return the positions as records. Raises ConfigError naming what does not fit."""
        check_type("layout", layout, Layout, "a Layout")
        self._check(layout)
        rows = np.zeros(len(self.visits), layout.dtype)
        for name, shape in layout.column_shapes.items():
            if shape[0] > 0:
                rows[name] = getattr(self, name)
        for name in ("visits", "root_value", "network_value", "ply", "action", "to_move"):
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
        """Return what the list of games says of it; of a game that :meth:`records` takes."""
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
        self._check_game(layout)
        n = len(self._column("visits"))
        expected = {name: (n, *shape) for name, shape in layout.column_shapes.items()}
        expected["visits"] = (n, layout.actions)
        columns = (*_NUMBERS, "taught") if self.taught is not None else _NUMBERS
        if layout.surprise:
            columns = (*columns, "surprise")
        expected |= dict.fromkeys(columns, (n,))
        for name, shape in expected.items():
            own = self._column(name).shape
            # A column without planes may have any length but the first.
            if own != shape and not (math.prod(shape) == math.prod(own) == 0):
                raise ConfigError(f"{name} of a game must have the shape {shape}, found {own}")
        for name, most in {**_WHOLE, "action": layout.actions - 1}.items():
            self._check_whole(name, most)
        if self.taught is not None:
            self._check_whole("taught", 1)
        self._check_actions()
        self._check_targets()
        for name in _FLOATS:
            self._check_fits_float32(name)
        if not np.all(np.isfinite(self.root_value)):
            raise ConfigError("root_value must be finite, found NaN or infinity")
        if np.any(np.isinf(self.network_value)):
            raise ConfigError("network_value must be finite, or NaN for none, found infinity")
        if layout.surprise:
            self._check_surprise()

    def _check_actions(self) -> None:
        """Refuse a position in which another action is played than in the game's moves."""
        ply, action = np.asarray(self.ply, np.intp), np.asarray(self.action)
        moves = np.asarray(self.moves)
        late = np.flatnonzero(ply >= len(moves))
        if late.size > 0:
            row = late[0]
            raise ConfigError(
                f"ply must be below {len(moves)}, the number of moves, "
                f"found {ply[row]} in row {row}"
            )
        if np.any(np.diff(ply) <= 0):
            raise ConfigError(f"ply must increase from row to row, found {found(self.ply)}")
        other = np.flatnonzero(moves[ply] != action)
        if other.size > 0:
            row = other[0]
            raise ConfigError(
                f"action must be the move at its ply, {moves[ply[row]]} in row {row}, "
                f"found {action[row]}"
            )

    def _check_targets(self) -> None:
        """Refuse full searches without visits, unless they are no policy targets."""
        taught = self._column("full") != 0
        if self.taught is not None:
            taught &= self._column("taught") != 0
        empty = np.flatnonzero(taught & ~self._column("visits").any(axis=1))
        if empty.size > 0:
            raise ConfigError(
                "visits of a full search must not all be 0 where they are taught, "
                f"found row {empty[0]}"
            )

    def _check_surprise(self) -> None:
        column = self._column("surprise")
        if not np.all((column >= 0) & (column <= _MOST_SURPRISE)):
            raise ConfigError(f"surprise must be numbers of at least 0, found {found(column)}")

    def _check_game(self, layout: Layout) -> None:
        """What holds for the game as a whole."""
        integer("number", self.number, 0, 2**32 - 1)
        integer("resigned", self.resigned, -1, 1)
        check_flag("resignation_off", self.resignation_off)
        check_type("start", self.start, str | None, "the text of a state or None")
        check_flag("cut_short", self.cut_short)
        if self.lowest is not None:
            number("lowest", self.lowest, "a number in [-1, 1] or None", lambda v: -1 <= v <= 1)
        check_type("returns", self.returns, tuple | list | np.ndarray, "two numbers in [-1, 1]")
        if len(self.returns) != 2:
            raise ConfigError(
                f"returns must be two numbers in [-1, 1], found {in_one_line(self.returns)}"
            )
        for one in self.returns:
            number("returns", one, "two numbers in [-1, 1]", lambda value: -1 <= value <= 1)
        if abs(float(self.returns[0]) + float(self.returns[1])) > _ROUNDING:
            raise ConfigError(f"returns must sum to 0, found {in_one_line(self.returns)}")
        if self.cut_short and (self.resigned >= 0 or any(self.returns)):
            raise ConfigError(
                "cut_short: expected returns of 0 and nobody who resigned, "
                f"got {in_one_line(self.returns)} and {self.resigned}"
            )
        if self._column("moves").ndim != 1:
            raise ConfigError(f"moves must be in one dimension, found {found(self.moves)}")
        self._check_whole("moves", layout.actions - 1)

    def _column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array of numbers."""
        given = getattr(self, name)
        try:
            column = np.asarray(given)
        except (TypeError, ValueError):  # rows of different lengths
            column = np.asarray(None)
        if column.ndim == 0 or (column.size > 0 and column.dtype.kind not in "biuf"):
            raise ConfigError(f"{name}: expected an array of numbers, found {found(given)}")
        return column

    def _check_whole(self, name: str, most: int) -> None:
        column = self._column(name)
        if column.size == 0 or (column.dtype.kind == "u" and int(column.max()) <= most):
            return
        if not (column.min() >= 0 and column.max() <= most and np.all(column == np.floor(column))):
            raise ConfigError(f"{name} must be whole numbers in 0..{most}, found {found(column)}")

    def _check_fits_float32(self, name: str) -> None:
        """Refuse finite numbers that a float32 would turn into infinities."""
        column = self._column(name)
        if column.dtype.kind != "f" or column.dtype.itemsize <= 4:
            return
        if np.any(np.isfinite(column) & (np.abs(column) > np.finfo(np.float32).max)):
            raise ConfigError(f"{name} must be numbers of a float32, found {found(column)}")


@dataclass(frozen=True, kw_only=True)
class GameLine:
    """A game in the list beside a shard.

    Attributes:
        number: of the game within the run.
        positions: how many are recorded; they are consecutive records, games in the list's order.
        full: a ``1`` for each position of a full search, a ``0`` for each other.
        returns, resigned, resignation_off, cut_short, moves: as in :class:`FinishedGame`.
        lowest, start: the same; absent in the file where they are None.
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
        """Return the position before the first move; ConfigError if the text is not a state."""
        if self.start is None:
            return game.new_initial_state()
        return game.deserialize_state(self.start)

    def to_json(self) -> str:
        """Return the line, its end included."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("lowest", "start"):
            if values[name] is None:
                del values[name]
        return json.dumps(values, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> GameLine:
        """Return the game of a line. Raises ValueError saying what is wrong."""
        try:
            return cls._from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected a game, found {text[:60]!r} ({error!r})") from error

    @classmethod
    def _from_dict(cls, values: Mapping[str, Any]) -> GameLine:
        check(values, _LINE_FIELDS)
        if "lowest" in values:
            check(values, {"lowest": real(-1, 1)})
        if "start" in values:
            check(values, {"start": TEXT})
        first, second = values["returns"]
        line = cls(
            number=values["number"],
            positions=values["positions"],
            full=values["full"],
            returns=(float(first), float(second)),
            resigned=values["resigned"],
            resignation_off=values["resignation_off"],
            cut_short=values["cut_short"],
            moves=tuple(values["moves"]),
            lowest=values.get("lowest"),
            start=values.get("start"),
        )
        if len(line.full) != line.positions:
            raise ValueError(f"{line.positions} positions, but {len(line.full)} letters of full")
        return line


def selected_rows(games: Sequence[GameLine], full_only: bool) -> npt.NDArray[np.int64]:
    """Return which records of consecutive games count, the first of them being 0."""
    if not full_only:
        return np.arange(sum(game.positions for game in games))
    letters = "".join(game.full for game in games).encode()
    return np.flatnonzero(np.frombuffer(letters, np.uint8) == ord("1"))
