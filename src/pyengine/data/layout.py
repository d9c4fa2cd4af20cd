"""Format of the records of positions on disk."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.checks import check_flag, check_type
from pyengine.data.checked import (
    BOOLEAN,
    OBJECT,
    TEXT,
    check,
    checked_by,
    checks_of,
    list_of,
    one_of,
    optional,
    whole,
    wholes,
)
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, load_recorded_game, refuse_text
from pyengine.games.symmetries import Images, own_images

#: Records of positions: a structured array of :attr:`Layout.dtype`.
Rows: TypeAlias = npt.NDArray[np.void]

#: Bits of the field ``flags``.
FULL_SEARCH = 1  #: a full search: its visits are a policy target unless VALUE_ALONE is set
RESIGNED = 2  #: the game ended by resignation
RESIGNATION_OFF = 4  #: resignation was disabled in this game
VALUE_ALONE = 8  #: a full search with visits that are not a policy target
CUT_SHORT = 16  #: the game ended without a result: its value is 0 and not a target

_MOST_SYMMETRIES = 1 << 8  # batches number them in 8 bits
_MOST = 1 << 16  # limit for actions, side length and planes, which the core stores in 16 bits

#: Fields of a record with one number.
_SCALARS = [
    ("value", "<f4"),
    ("root_value", "<f4"),
    ("network_value", "<f4"),
    ("game", "<u4"),
    ("ply", "<u2"),
    ("action", "<u2"),
    ("to_move", "u1"),
    ("flags", "u1"),
]

_LENGTH = checked_by(whole(1, _MOST))

#: Fields that JSON leaves out if they have these values.
_OPTIONAL: dict[str, Any] = {"surprise": False, "point_images": [], "action_images": []}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Format of the records of a game under a spec; see ``docs/data-format.md``.

    A record is packed (no padding) and little-endian. Fields without elements are left out. Points
    and actions are numbered as in the game (row 0 on top), whatever the spec's ``rows`` and
    ``policy_rows``. Planes of a kind keep the order of the spec's channels.
    """

    game: str = field(metadata=checked_by(TEXT))  #: the game as text, with its parameters
    spec: ModelSpec = field(metadata=checked_by(OBJECT))  #: encoding for a network
    #: The kind of each channel.
    kinds: tuple[str, ...] = field(metadata=checked_by(list_of(one_of("bits", "fill", "dense"))))
    #: D, the number of planes in ``dense``: ``observation`` unless it is of bool, and all features
    #: of ``gomoku17`` if the spec names one, since symmetries exchange them.
    dense: int = field(metadata=checked_by(whole(0, _MOST)))
    #: For each symmetry and each channel of the kind "dense", the plane of the position that it
    #: shows with its points moved: lines and directions turn with the board.
    dense_slots: tuple[tuple[int, ...], ...] = field(metadata=checked_by(list_of(wholes(0, _MOST))))
    rows: int = field(metadata=_LENGTH)  #: of a plane
    columns: int = field(metadata=_LENGTH)  #: of a plane
    #: Rows and columns of the board, which user-defined planes need not have.
    board: tuple[int, int] = field(metadata=checked_by(list_of(whole(0, _MOST), 2)))
    actions: int = field(metadata=_LENGTH)  #: A, the number of actions
    #: None if the game has no pass.
    pass_action: int | None = field(metadata=checked_by(optional(whole(0, _MOST))))
    #: Number of symmetries of the board: 1, 2, 4 or 8, or any number of the game's own.
    symmetries: int = field(metadata=checked_by(whole(1, _MOST_SYMMETRIES)))
    #: For each symmetry, the image of each point; empty if symmetry k is reflection k.
    point_images: Images = field(default=(), metadata=checked_by(list_of(wholes(0, _MOST))))
    #: The same for actions.
    action_images: Images = field(default=(), metadata=checked_by(list_of(wholes(0, _MOST))))
    #: Whether records have the field ``surprise`` (format 4).
    surprise: bool = field(default=False, metadata=checked_by(BOOLEAN))

    @classmethod
    def of(cls, game: Game, spec: ModelSpec, *, surprise: bool = False) -> Layout:
        """Return the layout of a game under a spec. Raises ModelError if they do not fit."""
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
        point_images, action_images = own_images(game)
        return cls(
            game=str(game),
            spec=spec.without_final_board(),  # records do not depend on it
            kinds=kinds,
            dense=_core.encode_planes([game.new_initial_state()], spec)[2].shape[1],
            dense_slots=tuple(map(tuple, slots.tolist())),
            rows=int(height),
            columns=int(width),
            board=board,
            actions=actions,
            pass_action=actions - 1 if has_pass else None,
            symmetries=game.num_symmetries,
            point_images=point_images,
            action_images=action_images,
            surprise=surprise,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Layout:
        """Return the layout for the values of :meth:`to_dict`. Raises ValueError if invalid."""
        values = {**_OPTIONAL, **values}
        check(values, checks_of(cls), "layout.")
        known = {name: _tuples(values[name]) for name in checks_of(cls)}
        layout = cls(**known | {"spec": ModelSpec.from_dict(values["spec"])})
        layout._check()
        return layout

    def _check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        channels, index = self.kinds.count("dense"), self.spec.pass_index
        slots = {(len(slot), max(slot, default=-1) < self.dense) for slot in self.dense_slots}
        square = self.rows == self.columns
        is_own = len(self.point_images) > 0
        is_reflected = self.symmetries in (1, 2, 4) or (self.symmetries == 8 and square)
        fits = {
            "board": self.symmetries == 1 or self.board == (self.rows, self.columns),
            "symmetries": is_own or is_reflected,
            "point_images": self._fit(self.point_images, self.points, is_own),
            "action_images": self._fit(self.action_images, self.actions, is_own),
            "dense_slots": len(self.dense_slots) == self.symmetries and slots == {(channels, True)},
            "pass_action": self.pass_action in (None, self.actions - 1),
            "spec.pass_index": index is None or 0 <= index < self.actions,
        }
        for name, holds in fits.items():
            if not holds:
                raise ValueError(f"layout.{name} contradicts the other fields of the layout")
        _ = self.dtype  # NumPy raises ValueError for records of 2 GiB

    def _fit(self, images: Images, size: int, is_own: bool) -> bool:
        """Return whether images are permutations, one for each of the game's own symmetries."""
        permutations = all(sorted(one) == list(range(size)) for one in images)
        return permutations and len(images) == (self.symmetries if is_own else 0)

    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON; optional ones only if they differ from their defaults."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["spec"] = self.spec.to_dict()
        return {k: v for k, v in values.items() if k not in _OPTIONAL or v}

    def difference(self, other: Layout) -> str | None:
        """Describe the first field that differs; None if all are equal."""
        own, others = (_OPTIONAL | layout.to_dict() for layout in (self, other))
        for name, value in own.items():
            if value != others[name]:
                return f"{name}: expected {value}, got {others[name]}"
        return None

    @property
    def points(self) -> int:
        """Number of points in a plane."""
        return self.rows * self.columns

    @property
    def column_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of ``bits``, ``fill`` and ``dense``."""
        return {
            "bits": (self.kinds.count("bits"), (self.points + 7) // 8),
            "fill": (self.kinds.count("fill"),),
            "dense": (self.dense, self.points),
        }

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """NumPy type of a record."""
        types = {"bits": "u1", "fill": "<f4", "dense": "<f4"}
        shapes = self.column_shapes.items()
        fields: list[Any] = [(name, types[name], shape) for name, shape in shapes if shape[0] > 0]
        fields += [("visits", "<u2", (self.actions,)), *_SCALARS]
        return np.dtype(fields + [("surprise", "<f2")] * self.surprise)

    def header(self, positions: int) -> bytes:
        """Return the header of an ``.npy`` file with this number of records."""
        file = io.BytesIO()
        described = np.lib.format.dtype_to_descr(self.dtype)
        np.lib.format.write_array_header_1_0(
            file, {"descr": described, "fortran_order": False, "shape": (positions,)}
        )
        return file.getvalue()

    def load_game(self) -> Game:
        """Return the game. Raises ConfigError if its name cannot be loaded."""
        return load_recorded_game(self.game)


def _tuples(value: Any) -> Any:
    """Return a value from JSON with tuples instead of lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
