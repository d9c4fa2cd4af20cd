"""Finished games: their records, their lines in the list of games, and the sink for them."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyengine.base.checks import repr_with_type
from pyengine.data.checked import (
    BOOLEAN,
    TEXT,
    check,
    checked_by,
    checks_of,
    list_of,
    optional,
    real,
    text_of,
    whole,
    wholes,
)
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

#: Types of the columns, which are those of the records.
_TYPES = {
    **dict.fromkeys(("bits", "to_move", "full", "taught"), "u1"),
    **dict.fromkeys(("visits", "ply", "action"), "<u2"),
    **dict.fromkeys(("fill", "dense", "root_value", "network_value"), "<f4"),
    "surprise": "<f2",
}

_ROUNDING = 1e-6  # rounding error of returns in float32


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedGame:
    """A finished game; each column has one row for each of its n recorded positions.

    Attributes:
        number: number of the game within the run, below 2^32.
        returns: returns of both players, each in [-1, 1]; they sum to 0.
        moves: uint16[plies]: all moves, including opening moves.
        start: ``State.serialize()`` of the position before the first move if it is not the usual
            one, for example with a handicap.
        resigned: the player who resigned, or -1.
        resignation_off: resignation was disabled, to count false resignations.
        cut_short: the game ended without a result, in self-play because of ``max_plies``. The
            returns are 0 and not value targets.
        lowest: with ``resignation_off``, the smallest value, in [-1, 1], over the moves of a side
            that did not lose; the value of a move is the larger of the values of the root and of
            its most visited child. None if unknown.
        taught: uint8[n]: 0 if the visits of this full search are not a policy target. None means
            that those of all full searches are.
        surprise: float32[n]: KL(policy target || priors without noise) in nats, 0 if the visits
            are not a target. Required if the layout has it.
        bits: uint8[n,P,B]: planes of 0 and 1, see :class:`Layout`.
        fill: float32[n,F]: constant planes.
        dense: float32[n,D,H*W]: planes with a number per point.
        visits: uint16[n,A]: visits by action, scaled down if one exceeds 65,535; after a Gumbel
            search the improved policy in units of 1/65,535.
        root_value: float32[n]: value of the search for the player to move.
        network_value: float32[n]: value of the evaluator before the search, for the player to
            move: 0 for ``"uniform"``, the result of the playouts for ``"rollout"``, NaN if there
            was no evaluator.
        ply: uint16[n]: moves before the position.
        action: uint16[n]: the move played, ``moves[ply]``.
        to_move: uint8[n]: the player to move.
        full: uint8[n]: 1 for a full search, 0 for a fast one, whose visits are not a policy target.
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
        """Return the positions as records. Raises ConfigError for a column that does not fit."""
        self._check_game()
        columns = self._columns(layout)
        self._check_moves_and_targets(columns)
        rows = np.zeros(len(columns["visits"]), layout.dtype)
        for name in columns.keys() & set(rows.dtype.names or ()):
            rows[name] = columns[name]
        rows["value"] = np.array(self.returns, np.float32)[columns["to_move"].astype(np.intp)]
        rows["game"] = self.number
        full, taught = columns["full"] != 0, columns["taught"] != 0
        of_game = RESIGNED * (self.resigned >= 0) + RESIGNATION_OFF * bool(self.resignation_off)
        of_game += CUT_SHORT * bool(self.cut_short)
        rows["flags"] = of_game + FULL_SEARCH * full + VALUE_ALONE * (full & ~taught)
        return rows

    def line(self) -> GameLine:
        """Return the line in the list of games; the game must be valid, see :meth:`records`."""
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

    def _columns(self, layout: Layout) -> dict[str, npt.NDArray[Any]]:
        """Return the columns in their types. Raises ConfigError for a wrong shape or number."""
        n = len(self._column("visits", "<u2"))
        shapes = dict.fromkeys(_TYPES, ()) | layout.column_shapes | {"visits": (layout.actions,)}
        if not layout.surprise:
            del shapes["surprise"]
        columns = {"moves": self._column("moves", "<u2")}
        for name, shape in shapes.items():
            all_taught = name == "taught" and self.taught is None
            column = np.ones(n, "u1") if all_taught else self._column(name, _TYPES[name])
            expected = (n, *shape)
            if column.shape != expected and not (0 in column.shape and 0 in expected):
                raise ConfigError(
                    f"{name}: expected an array of shape {expected}, got {column.shape}"
                )
            columns[name] = column.reshape(expected)
        self._require("moves", "one dimension", columns["moves"].ndim == 1)
        flags, moves = ("to_move", "full", "taught"), ("action", "moves")
        largest = dict.fromkeys(flags, 1) | dict.fromkeys(moves, layout.actions - 1)
        for name, most in largest.items():
            self._require(name, f"integers in 0..{most}", columns[name].max(initial=0) <= most)
        root, network = columns["root_value"], columns["network_value"]
        self._require("root_value", "finite numbers", np.isfinite(root).all())
        self._require("network_value", "finite numbers or NaN", not np.isinf(network).any())
        if layout.surprise:
            fits = np.isfinite(columns["surprise"]) & (columns["surprise"] >= 0)
            self._require("surprise", "finite numbers of at least 0", fits.all())
        return columns

    def _check_game(self) -> None:
        for name in ("number", "resigned", "resignation_off", "cut_short", "lowest", "start"):
            _CHECKS[name](name, getattr(self, name))
        try:
            first, second = map(float, self.returns)
        except (TypeError, ValueError):
            first = second = np.nan
        fits = abs(first) <= 1 and abs(second) <= 1 and abs(first + second) <= _ROUNDING
        self._require("returns", "two numbers in [-1, 1] whose sum is 0", fits)
        if self.cut_short and (self.resigned >= 0 or first or second):
            raise ConfigError("cut_short: expected returns of 0 and no resignation")

    def _check_moves_and_targets(self, columns: dict[str, npt.NDArray[Any]]) -> None:
        ply, moves = columns["ply"].astype(np.intp), columns["moves"]
        fits = np.all(ply < len(moves)) and np.all(np.diff(ply) > 0)
        self._require("ply", f"increasing numbers below {len(moves)}", fits)
        self._require("action", "moves[ply]", np.array_equal(moves[ply], columns["action"]))
        taught = (columns["full"] != 0) & (columns["taught"] != 0)
        empty = np.flatnonzero(taught & ~columns["visits"].any(axis=1))
        if empty.size > 0:
            raise ConfigError(f"visits: row {empty[0]} is a policy target but has no visits")

    def _column(self, name: str, dtype: str) -> npt.NDArray[Any]:
        """Return a column in its type. Raises ConfigError unless it is an array of such numbers."""
        try:
            given = np.asarray(getattr(self, name))
        except ValueError:  # rows of different lengths
            given = np.asarray(None)
        are_numbers = given.ndim > 0 and (given.size == 0 or given.dtype.kind in "biuf")
        self._require(name, "an array of numbers", are_numbers)
        if given.dtype == dtype:
            return given
        with np.errstate(all="ignore"):
            column = given.astype(dtype)
        fits = column.dtype.kind == "f" or np.array_equal(column, given)
        self._require(name, f"numbers of the type {column.dtype}", fits)
        return column

    def _require(self, name: str, expected: str, fits: bool | np.bool_) -> None:
        if not fits:
            raise ConfigError(
                f"{name}: expected {expected}, got {repr_with_type(getattr(self, name))}"
            )


@dataclass(frozen=True, kw_only=True)
class GameLine:
    """A game in the list of games of a shard; most fields are those of :class:`FinishedGame`."""

    number: int = field(metadata=checked_by(whole(0, 2**32 - 1)))
    #: Number of recorded positions; the shard stores them in the order of the list.
    positions: int = field(metadata=checked_by(whole(0, 2**63 - 1)))
    #: ``1`` for each position of a full search, ``0`` for the others.
    full: str = field(metadata=checked_by(text_of("[01]*", "a string of 0 and 1")))
    returns: tuple[float, float] = field(metadata=checked_by(list_of(real(-1, 1), 2)))
    resigned: int = field(metadata=checked_by(whole(-1, 1)))
    resignation_off: bool = field(metadata=checked_by(BOOLEAN))
    cut_short: bool = field(metadata=checked_by(BOOLEAN))
    moves: tuple[int, ...] = field(metadata=checked_by(wholes(0, 2**16 - 1)))
    lowest: float | None = field(default=None, metadata=checked_by(optional(real(-1, 1))))
    start: str | None = field(default=None, metadata=checked_by(optional(TEXT)))

    def start_state(self, game: Game) -> State:
        """Return the position before the first move. Raises ConfigError if it is invalid."""
        return (
            game.new_initial_state() if self.start is None else game.deserialize_state(self.start)
        )

    def to_json(self) -> str:
        """Return the line, with its newline and without fields that are None."""
        values = {name: value for name, value in vars(self).items() if value is not None}
        return json.dumps(values, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> GameLine:
        """Parse a line. Raises ValueError."""
        try:
            values = {"lowest": None, "start": None, **json.loads(text)}
            check(values, _CHECKS)
            if len(values["full"]) != values["positions"]:
                raise ValueError("full: expected one character per position")
            first, second = map(float, values["returns"])
            values |= {"returns": (first, second), "moves": tuple(values["moves"])}
            return cls(**values)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"expected a game, got {text[:60]!r} ({error!r})") from error


_CHECKS = checks_of(GameLine)


class GameSink(AbstractContextManager[Any], Protocol):
    """Receives finished games, as :class:`~pyengine.data.ShardWriter` does. ``with`` closes it."""

    @property
    def games(self) -> int:
        """Number of games so far."""

    @property
    def positions(self) -> int:
        """Number of positions so far."""

    @property
    def next_number(self) -> int:
        """Number for the next game: the largest so far plus 1."""

    def played_on(self) -> list[float]:
        """Return :attr:`FinishedGame.lowest` of the newest known games, oldest first."""

    def add(self, game: FinishedGame) -> None:
        """Add a game; if this raises, the game may be added again."""

    def tick(self) -> None:
        """Do periodic work; called about every second."""

    def set_model(self, sha256: str) -> None:
        """Set the network that plays from now on."""
