"""The interface of training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pyengine.base.checks import repr_with_type
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.train.configs import LossConfig


class TrainingData(Protocol):
    """Training positions; :class:`pyengine.Dataset` implements it."""

    @property
    def spec(self) -> ModelSpec:
        """How a network reads the planes."""

    def __len__(self) -> int:
        """Return the number of positions."""

    def sample(
        self, size: int, rng: np.random.Generator, augment: bool = True
    ) -> dict[str, npt.NDArray[Any]]:
        """Return random positions.

        ``planes`` float32 [N,C,H,W], ``policy`` float32 [N,A] (visits normalised), ``value``
        float32 [N] (outcome for the mover); perhaps ``root_value`` [N] and ``full`` bool [N], False
        for a position without a policy target. For auxiliary heads also ``reply`` float32 [N,A]
        with ``replied`` bool [N], ``short_values`` float32 [N,K], ``ownership`` float32 [N,H,W]
        and ``score`` float32 [N] with ``ended`` bool [N].
        """


class Shape(NamedTuple):
    """Shape of a position's planes, and the number of actions in its policy."""

    planes: int
    height: int
    width: int
    actions: int

    def __str__(self) -> str:
        return f"{self.planes} planes of {self.height}x{self.width} with {self.actions} actions"


def shape_of(data: Sequence[TrainingData], kind: str, before: Shape | None = None) -> Shape:
    """Return the shape of the first data's positions.

    Raises ConfigError if other data, or the previous ones, have another number of planes, or
    another shape while the network, AlphaGo Zero's, supports only one.
    """
    first = _shape(data[0])
    others = [_shape(other) for other in data[1:] if len(other) > 0]
    for other in others if before is None else [before, *others]:
        if other.planes != first.planes or (kind == "alphago_zero" and other != first):
            raise ConfigError(f"data: expected positions of one shape, got {first} and {other}")
    return first


def require_targets(data: Sequence[TrainingData], loss: LossConfig) -> None:
    """Raise ConfigError if the data lack targets of an enabled head."""
    needed: dict[str, str] = {}  # arrays, with the option of Dataset that adds each
    if loss.reply_weight > 0:
        needed |= dict.fromkeys(("reply", "replied"), "reply=True")
    if loss.final_board:
        needed["ended"] = "final_board=True"
    if loss.ownership_weight > 0:
        needed["ownership"] = "final_board=True"
    if loss.score_weight > 0:
        needed["score"] = "final_board=True of Go or Othello"
    horizons = loss.target_horizons
    if horizons:
        needed["short_values"] = f"horizons={list(horizons)}"
    for source in data:
        got = getattr(source, "horizons", horizons)
        if horizons and tuple(got) not in ((), horizons):
            raise ConfigError(
                f"data: expected the horizons of the loss, {list(horizons)}, got {list(got)}"
            )
        if needed and len(source) > 0:
            _require_arrays(source, needed)


def _require_arrays(data: TrainingData, options: Mapping[str, str]) -> None:
    """Raise ConfigError if ``sample()`` lacks an array; a Dataset adds it with its option."""
    row = _row(data)
    for name, option in options.items():
        if name not in row:
            raise ConfigError(
                f"data: expected sample() to return {name} for the weights of the loss, as a "
                f"Dataset with {option} does"
            )


def _row(data: TrainingData) -> dict[str, npt.NDArray[Any]]:
    return data.sample(1, np.random.default_rng(0), augment=False)


def _shape(data: TrainingData) -> Shape:
    row = _row(data)
    for name, dimensions in (("planes", 4), ("policy", 2), ("value", 1)):
        array = row.get(name)
        if not (isinstance(array, np.ndarray) and array.ndim == dimensions and len(array) == 1):
            raise ConfigError(
                f"data: expected sample(1, ...) to return {name} as an array of {dimensions} "
                f"dimensions and one row, got {repr_with_type(array)}"
            )
    _, planes, height, width = row["planes"].shape
    return Shape(planes, height, width, row["policy"].shape[1])
