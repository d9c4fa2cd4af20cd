"""The record of a position on disk: what its fields are, and for which game and spec."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.arguments import check_choice, check_flag, check_type
from pyengine.base.integers import integer
from pyengine.data.checked import (
    BOOLEAN,
    OBJECT,
    TEXT,
    check,
    list_of,
    one_of,
    optional,
    whole,
    wholes,
)
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, load_recorded_game, refuse_text

__all__ = [
    "CUT_SHORT",
    "FULL_SEARCH",
    "RESIGNATION_OFF",
    "RESIGNED",
    "VALUE_ALONE",
    "Layout",
    "Rows",
]

#: Records of positions: a structured array of :attr:`Layout.dtype`.
Rows: TypeAlias = npt.NDArray[np.void]

#: Bits of the field ``flags``.
FULL_SEARCH = 1  #: the search was a full one: its visits are a policy target, but for VALUE_ALONE
RESIGNED = 2  #: the game ended by resignation
RESIGNATION_OFF = 4  #: the game was played on whatever the players thought of it
VALUE_ALONE = 8  #: the search was a full one, but its visits are no policy target
CUT_SHORT = 16  #: the game was ended without a result: its value is 0, and is no value target

_MOST = 1 << 16  # actions, points of a side, planes: what the core's 16-bit numbers can name

_MOST_NUMBERS = 1 << 28  # of a position's planes: NumPy's records end at 2 GiB

_MOST_RECORDS = 2**63 - 1  # of a file, as NumPy counts them

_KINDS = ("bits", "fill", "dense")  # of channels

#: What a manifest must say of a layout.
_FIELDS = {
    "game": TEXT,
    "spec": OBJECT,
    "kinds": list_of(one_of(*_KINDS)),
    "dense": whole(0, _MOST),
    "dense_slots": list_of(wholes(0, _MOST)),
    "rows": whole(1, _MOST),
    "columns": whole(1, _MOST),
    "board": list_of(whole(0, _MOST), 2),
    "actions": whole(1, _MOST),
    "pass_action": optional(whole(0, _MOST)),
    "symmetries": whole(1, 8),
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of the records of a game under a spec. What a manifest keeps of both.

    A record is packed (no padding), little-endian. Fields whose shape holds nothing are left out.

    ==================  ===========  ==========================================================
    ``bits``            u1[P, B]     planes of 0 and 1: point ``p`` is bit ``p % 8`` (the lowest
                                     is 0) of byte ``p // 8``; B = ceil(points / 8)
    ``fill``            f4[F]        planes of one number
    ``dense``           f4[D, H*W]   planes with a number a point, as large as the network reads
                                     them: ``observation``, which may hold anything, and the
                                     features of ``gomoku17``, all of them, whichever the spec
                                     names, since symmetries exchange them
    ``visits``          u2[A]        visit counts by action, or the improved policy of a search by
                                     Gumbel in units of 1/65,535
    ``value``           f4           outcome of the game for the player to move, in [-1, 1]; 0 of a
                                     game that was cut short
    ``root_value``      f4           the search's value, for the player to move
    ``network_value``   f4           the evaluator's evaluation of the position itself, before any
                                     search, for the player to move: the network's value, 0 of
                                     ``"uniform"``, the result of playouts of ``"rollout"``; NaN
                                     where nobody evaluated it (games of people)
    ``game``            u4           number of the game
    ``ply``             u2           moves before the position
    ``action``          u2           the move played
    ``to_move``         u1           player to move
    ``flags``           u1           :data:`FULL_SEARCH` | :data:`RESIGNED` |
                                     :data:`RESIGNATION_OFF` | :data:`VALUE_ALONE` |
                                     :data:`CUT_SHORT`
    ``surprise``        f2           where the layout has it: how much the policy target said that
                                     the evaluator's priors, without noise, did not: the divergence
                                     KL(target || priors) in nats; 0 where the visits are no target
    ==================  ===========  ==========================================================

    Points and actions are the game's own (row 0 on top), whatever the spec's ``rows`` and
    ``policy_rows``; planes of a kind keep the order of the spec's channels.

    Attributes:
        game: text form of the game, parameters included.
        spec: how a network reads the planes.
        kinds: for each channel ``"bits"``, ``"fill"`` or ``"dense"``.
        dense: D, how many planes ``dense`` has.
        dense_slots: for each symmetry and each channel of the kind ``"dense"`` which plane of the
            position it shows, its points moved: lines and directions turn with the board.
        rows: of a plane.
        columns: of a plane.
        board: rows and columns of the board, which a game with planes of its own need not share.
        actions: A, how many there are.
        pass_action: None where the game has no pass.
        symmetries: of the board: 1, 2, 4 or 8.
        surprise: whether records have that field, which is format 4.
    """

    game: str
    spec: ModelSpec
    kinds: tuple[str, ...]
    dense: int
    dense_slots: tuple[tuple[int, ...], ...]
    rows: int
    columns: int
    board: tuple[int, int]
    actions: int
    pass_action: int | None
    symmetries: int
    surprise: bool = False

    @classmethod
    def of(cls, game: Game, spec: ModelSpec, *, surprise: bool = False) -> Layout:
        """Return the layout of a game under a spec, with or without the field ``surprise``.

        Raises ModelError when they do not fit, ConfigError when they are none.
        """
        refuse_text(game)
        check_type("game", game, Game, "a Game")
        check_type("spec", spec, ModelSpec, "a ModelSpec")
        check_flag("surprise", surprise)
        shape = list(_core.check_fit(spec, game))
        height, width = shape[:2] if spec.layout == "NHWC" else shape[1:]
        board = game.board_shape
        actions = game.num_distinct_actions()
        has_pass = game.has_board and actions == board[0] * board[1] + 1
        kinds = tuple(_core.plane_kinds(game, spec))
        slots = _core.dense_slots(game, spec)[:, np.array(kinds) == "dense"]
        return cls(
            game=str(game),
            spec=spec.without_final_board(),  # it says nothing of the records
            kinds=kinds,
            dense=_core.encode_planes([game.new_initial_state()], spec)[2].shape[1],
            dense_slots=tuple(tuple(under) for under in slots.tolist()),
            rows=int(height),
            columns=int(width),
            board=board,
            actions=actions,
            pass_action=actions - 1 if has_pass else None,
            symmetries=game.num_symmetries,
            surprise=surprise,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Layout:
        """Return the layout of :meth:`to_dict`.

        Raises TypeError or ValueError for a field of another kind, or sizes that do not fit each
        other. Whether it is the game's own layout a caller that has the game can ask
        :meth:`difference`.
        """
        check(values, _FIELDS, "layout.")
        if "surprise" in values:
            check(values, {"surprise": BOOLEAN}, "layout.")
        layout = cls(
            game=values["game"],
            spec=ModelSpec.from_dict(values["spec"]),
            kinds=tuple(values["kinds"]),
            dense=values["dense"],
            dense_slots=tuple(map(tuple, values["dense_slots"])),
            rows=values["rows"],
            columns=values["columns"],
            board=tuple(values["board"]),
            actions=values["actions"],
            pass_action=values["pass_action"],
            symmetries=values["symmetries"],
            surprise=values.get("surprise", False),
        )
        layout._check()
        return layout

    def _check(self) -> None:
        """Raise ValueError where the fields contradict each other."""
        shown, where = self.count("dense"), self.spec.pass_index
        slots = {(len(under), max(under, default=-1) < self.dense) for under in self.dense_slots}
        square = self.rows == self.columns
        fits = {
            "rows": max(len(self.kinds), self.dense) * self.points <= _MOST_NUMBERS,
            "board": self.symmetries == 1 or self.board == (self.rows, self.columns),
            "symmetries": self.symmetries in (1, 2, 4) or (self.symmetries == 8 and square),
            "dense_slots": len(self.dense_slots) == self.symmetries and slots == {(shown, True)},
            "pass_action": self.pass_action in (None, self.actions - 1),
            "spec.pass_index": where is None or 0 <= where < self.actions,
        }
        for name, holds in fits.items():
            if not holds:
                raise ValueError(f"layout.{name} does not fit the layout's other fields")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; ``surprise`` only where records have it."""
        values = asdict(self)
        if not self.surprise:
            del values["surprise"]
        slots = [list(under) for under in self.dense_slots]
        return {
            **values,
            "spec": self.spec.to_dict(),
            "kinds": list(self.kinds),
            "dense_slots": slots,
            "board": list(self.board),
        }

    def difference(self, found: Layout) -> str | None:
        """Return what differs, expected and found; None where nothing does."""
        check_type("found", found, Layout, "a Layout")
        without = {"surprise": False}
        expected, other = without | self.to_dict(), without | found.to_dict()
        for name, value in expected.items():
            if value != other[name]:
                return f"{name}: expected {value}, found {other[name]}"
        return None

    @property
    def points(self) -> int:
        """Points of a plane."""
        return self.rows * self.columns

    def count(self, kind: str) -> int:
        """Return how many channels are of a kind: ``"bits"``, ``"fill"``, ``"dense"``.

        Raises ConfigError for another kind.
        """
        check_choice("kind", kind, _KINDS)
        return self.kinds.count(kind)

    @property
    def column_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the columns that hold the planes: ``bits``, ``fill``, ``dense``."""
        return {
            "bits": (self.count("bits"), (self.points + 7) // 8),
            "fill": (self.count("fill"),),
            "dense": (self.dense, self.points),
        }

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The type of a record."""
        types = {"bits": "u1", "fill": "<f4", "dense": "<f4"}
        fields: list[Any] = [
            (name, types[name], shape) for name, shape in self.column_shapes.items() if shape[0] > 0
        ]
        fields += [
            ("visits", "<u2", (self.actions,)),
            ("value", "<f4"),
            ("root_value", "<f4"),
            ("network_value", "<f4"),
            ("game", "<u4"),
            ("ply", "<u2"),
            ("action", "<u2"),
            ("to_move", "u1"),
            ("flags", "u1"),
        ]
        if self.surprise:
            fields.append(("surprise", "<f2"))
        return np.dtype(fields)

    def header(self, positions: int) -> bytes:
        """Return what an ``.npy`` file of so many records begins with.

        Raises ConfigError for what is no number of records.
        """
        positions = integer("positions", positions, 0, _MOST_RECORDS)
        file = io.BytesIO()
        described = np.lib.format.dtype_to_descr(self.dtype)
        np.lib.format.write_array_header_1_0(
            file, {"descr": described, "fortran_order": False, "shape": (positions,)}
        )
        return file.getvalue()

    def load_game(self) -> Game:
        """Return the game. Raises ConfigError for one that cannot be loaded by its name."""
        try:
            return load_recorded_game(self.game)
        except ConfigError as error:
            raise ConfigError(f"the data's game cannot be loaded by its name: {error}") from error
