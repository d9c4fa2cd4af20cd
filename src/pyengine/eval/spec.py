"""ModelSpec: how a network reads a position and what its outputs mean."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.base.checks import Settings, check_type, short_repr
from pyengine.base.files import read_limited, unread
from pyengine.errors import ConfigError, ModelError
from pyengine.games.game import Game, as_game

#: The key under which an ONNX file's metadata keeps its spec, as JSON.
METADATA_KEY = "pyengine.spec"


@dataclass(frozen=True, kw_only=True)
class ModelSpec(Settings):
    """How a network reads a position and what its outputs mean.

    Attributes:
        planes (tuple of str, default ("own[0]", "opp[0]", "first_to_move")): names of the input
            planes in channel order, see *Planes*. ``own[0:8]`` is short for eight planes; after
            construction ranges are written out. For a user's game the default means
            ``("observation",)``.
        layout ("NCHW" or "NHWC", default "NCHW"): order of the input's axes. A network whose input
            has two dimensions gets the planes flattened in this order.
        rows ("top_down" or "bottom_up", default "top_down"): which board row comes first in the
            input.
        policy_rows ("top_down" or "bottom_up", default "top_down"): which board row comes first in
            the policy.
        policy ("logits", "log_probs" or "probs", default "logits"): what the policy output holds.
        pass_index (int >= 0 or None, default None): where the policy has the pass; None = last
            when the game has a pass. The other actions keep their order.
        value ("scalar" or tuple of str, default "scalar"): one number, or the order of a 3-way
            head, ``("win", "draw", "loss")`` in any order.
        value_kind ("tanh", "logits", "log_probs", "probs" or None, default None): what the value
            output holds. Scalar: ``"tanh"`` (in [-1, 1] already), ``"probs"`` (probability of a
            win) or ``"logits"`` (before tanh); 3-way: ``"logits"``, ``"log_probs"`` or
            ``"probs"``. None = the first of them.
        value_for ("mover" or "first_player", default "mover"): for whom the value is.
        input (str or None, default None): name of the input tensor; None = the only one.
        policy_output (str or None, default None): name of the policy's tensor; None = the output
            named ``policy``, else the only one of its size.
        value_output (str or None, default None): name of the value's tensor; None = the output
            named ``value``, else the only one of its size.
        ownership_output (str or None, default None): name of the tensor [N,H,W] that says whose
            each point is when the game ends: 1 = the player to move, -1 = the opponent; rows as in
            the input. None = there is none.
        score_output (str or None, default None): name of the tensor [N] or [N,1] that says by how
            many points the player to move is ahead when the game ends. None = there is none.

    Planes:
        own[t]: stones of the player to move now, ``t`` plies ago, 0 <= t < 8. A pass is a ply;
            before the start all is empty.
        opp[t]: stones of the other player, ``t`` plies ago.
        first[t]: stones of player 0, ``t`` plies ago.
        second[t]: stones of player 1, ``t`` plies ago.
        empty: points without a stone now.
        last[t]: a single 1 where the move ``t`` plies ago was made (in Connect Four where the
            stone landed); nothing for a pass.
        first_to_move: all 1 when player 0 is to move, else all 0.
        second_to_move: all 1 when player 1 is to move, else all 0.
        mover_sign: all +1 when player 0 is to move, else all -1.
        ones: all 1.
        zeros: all 0.
        legal: points where a stone may be put now (in Connect Four where it would land).
        liberties[k]: Go: stones of chains with exactly ``k`` liberties; ``liberties[k+]``: with
            ``k`` or more.
        own_area: Go: points that would be the player to move's by area if the game ended now.
        opp_area: Go: the other player's.
        ko: Go: the point that the ko rule forbids now.
        gomoku_*: Gomoku: the features of :meth:`gomoku17`.
        observation: the planes of a user's game, all of them. Such a game has no other planes than
            this and the constant ones.

    Raises:
        ConfigError: a field is not one of these; the message names it.

    Example:
        >>> import pyengine
        >>> spec = pyengine.ModelSpec(planes=("own[0:2]", "opp[0:2]"), policy="probs")
        >>> spec.planes
        ('own[0]', 'own[1]', 'opp[0]', 'opp[1]')
    """

    planes: tuple[str, ...] = ("own[0]", "opp[0]", "first_to_move")
    layout: str = "NCHW"
    rows: str = "top_down"
    policy_rows: str = "top_down"
    policy: str = "logits"
    pass_index: int | None = None
    value: str | tuple[str, ...] = "scalar"
    value_kind: str | None = None
    value_for: str = "mover"
    input: str | None = None
    policy_output: str | None = None
    value_output: str | None = None
    ownership_output: str | None = None
    score_output: str | None = None

    def __post_init__(self) -> None:
        """Check all fields and write ranges out."""
        if isinstance(self.value, list):
            object.__setattr__(self, "value", tuple(self.value))
        if isinstance(self.planes, str):
            object.__setattr__(self, "planes", (self.planes,))
        for name in ("ownership_output", "score_output"):
            check_type(name, getattr(self, name), str | None, "the name of a tensor or None")
            if getattr(self, name) == "":
                raise ConfigError(f"{name}: expected the name of a tensor or None, got ''")
        if self.score_output is not None and self.score_output == self.ownership_output:
            raise ConfigError(
                "score_output: expected another tensor than ownership_output, got "
                f"{self.score_output!r} for both"
            )
        object.__setattr__(self, "planes", tuple(_core.plane_names(self)))

    @classmethod
    def alphago_zero(cls, game: Any = None) -> ModelSpec:
        """17 planes: ``own[t]``, ``opp[t]`` interleaved for t = 0..7, then ``first_to_move``.

        Source: Silver et al., *Mastering the game of Go without human knowledge* (2017).

        Args:
            game: None, or the game that the spec must fit (ModelError otherwise).
        """
        return cls._preset("alphago_zero", game)

    @classmethod
    def leela_zero(cls, game: Any = None) -> ModelSpec:
        """18 planes: ``own[0:8]``, ``opp[0:8]``, ``first_to_move``, ``second_to_move``.

        The bottom row comes first, in the input and in the policy, as Leela Zero counts points.

        Args:
            game: None, or the game that the spec must fit (ModelError otherwise).
        """
        return cls._preset("leela_zero", game)

    @classmethod
    def gomoku17(cls, game: Any = None) -> ModelSpec:
        """17 hand-made features of each point; first is black, second white.

        ============================  ========================================================
        ``gomoku_stone``              -1 empty, 1 black, 2 white
        ``gomoku_line_*``             stones of one colour in a row through the stone here,
                                      /5: ``vertical``, ``horizontal``, ``diagonal`` (north-west
                                      to south-east), ``antidiagonal``; 0 on an empty point
        ``gomoku_blocked_*``          ``n``, ``ne``, ``e``, ``se``, ``s``, ``sw``, ``w``, ``nw``:
                                      1 if the neighbour is of the other colour or beyond the
                                      edge, else 0; -1 on an empty point. North is the top row
        ``gomoku_distance``           Euclidean distance of the last two moves / (14 sqrt 2),
                                      everywhere the same; -1 with fewer than two moves
        ``gomoku_near_*``             ``first``, ``second``, ``empty``: such points of the board
                                      in the 7x7 around this one, itself included, /15
        ============================  ========================================================

        Under a board symmetry the features are those of the transformed position: lines and
        directions turn with the board.

        Args:
            game: None, or the game that the spec must fit (ModelError otherwise).
        """
        return cls._preset("gomoku17", game)

    @classmethod
    def _preset(cls, name: str, game: Any) -> ModelSpec:
        spec = cls(**_core.preset_fields(name))
        if game is not None:
            _core.check_fit(spec, as_game(game))
        return spec

    @property
    def final_board_outputs(self) -> tuple[str, ...]:
        """Names of the tensors that are of the game's last board."""
        named = (self.ownership_output, self.score_output)
        return tuple(name for name in named if name is not None)

    def without_final_board(self) -> ModelSpec:
        """Return the spec of the same network without the outputs of the game's last board."""
        if not self.final_board_outputs:
            return self
        return replace(self, ownership_output=None, score_output=None)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ModelSpec:
        """Return the spec of :meth:`to_dict`. Raises ConfigError naming what is unknown."""
        if not isinstance(values, dict):
            raise ConfigError(f"a spec must be a JSON object, got {short_repr(values)}")
        given = dict(values)
        for name in ("planes", "value"):
            if isinstance(given.get(name), list):
                given[name] = tuple(given[name])
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, and the planes."""
        default = ModelSpec()
        values = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if name == "planes" or value != getattr(default, name)
        }

    @classmethod
    def from_json(cls, text: str) -> ModelSpec:
        """Return the spec of :meth:`to_json`. Raises ConfigError saying what is wrong."""
        try:
            check_type("text", text, str | bytes, "a spec as JSON text")
            values = json.loads(text)
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"a spec must be JSON: {error}") from error
        return cls.from_dict(values)

    def to_json(self) -> str:
        """Return the text for the metadata key ``pyengine.spec`` or a file MODEL.spec.json."""
        return json.dumps(self.to_dict())


def planes_shape(game: Game, spec: ModelSpec) -> tuple[int, int, int]:
    """Return C, H and W of a position's planes, whatever the layout. Raises ModelError."""
    shape = _core.check_fit(spec, game)
    if spec.layout == "NHWC":
        height, width, channels = shape
    else:
        channels, height, width = shape
    return channels, height, width


def spec_of_model(model: _core.OnnxModel, path: Path, given: ModelSpec | None) -> ModelSpec:
    """Return the spec that is given, in a model's metadata, beside it, or else inferred.

    Warns of an inferred spec, since no file proves what its planes show.

    Raises:
        ModelError: a spec that cannot be read, or shapes that leave several readings.

    """
    if given is not None:
        if not isinstance(given, ModelSpec):
            raise ConfigError(f"spec must be a ModelSpec or None, got {short_repr(given)}")
        return given
    text = model.metadata(METADATA_KEY)
    if text is not None:
        return _read(text, f"the metadata '{METADATA_KEY}' of {path}")
    for beside in (path.with_suffix(".spec.json"), path.with_name(path.name + ".spec.json")):
        if beside.is_file():
            try:
                text = read_limited(beside).decode()
            except (OSError, UnicodeDecodeError) as error:
                raise ModelError(unread(beside, error)) from error
            return _read(text, str(beside))
    spec = ModelSpec(**model.infer_spec())
    warnings.warn(_assumption(path, spec), stacklevel=3)
    return spec


def _assumption(path: Path, spec: ModelSpec) -> str:
    """Return the warning that shows an inferred spec in full."""
    shown = replace(spec, value_kind=spec.value_kind or "tanh")
    names = [field.name for field in fields(spec) if getattr(shown, field.name) is not None]
    values = ", ".join(f"{name}={getattr(shown, name)!r}" for name in names)
    return (
        f"{path} does not say how it reads a position; assumed ModelSpec({values}). To confirm or "
        "correct it, pass it as spec=, or write its to_json() to "
        f"{path.with_suffix('.spec.json').name} beside the file or to the metadata key "
        f"'{METADATA_KEY}'"
    )


def _read(text: str, source: str) -> ModelSpec:
    try:
        return ModelSpec.from_json(text)
    except (ConfigError, TypeError) as error:
        raise ModelError(f"{source} is no ModelSpec: {error}") from error
