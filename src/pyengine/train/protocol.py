"""What a learner needs of its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import found
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.train.configs import LossConfig

__all__ = ["Shape", "TrainingData", "require_targets", "shape_of"]


class TrainingData(Protocol):
    """Positions to learn from; :class:`pyengine.Dataset` is one."""

    @property
    def spec(self) -> ModelSpec:
        """How a network reads the planes."""

    def __len__(self) -> int:
        """Return how many positions there are."""

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


#: Planes, rows and columns of a position, and how many actions its policy has.
Shape: TypeAlias = tuple[tuple[int, int, int], int]

_DIMENSIONS = {"planes": 4, "policy": 2, "value": 1}


def shape_of(data: Sequence[TrainingData], kind: str, before: Shape | None = None) -> Shape:
    """Return the shape of the first data's positions.

    Raises ConfigError where that cannot be told, or where other data, or those before, have another
    one and the kind of network reads one alone: AlphaGo Zero's. The others read several boards.
    """
    first = _shape(data[0])
    others = [_shape(each) for each in data[1:] if len(each) > 0]
    for other in others if before is None else [before, *others]:
        if other[0][0] != first[0][0] or (kind == "alphago_zero" and other != first):
            raise ConfigError(
                f"data: expected positions of one shape, found {_told(first)} and {_told(other)}"
            )
    return first


def require_targets(data: Sequence[TrainingData], loss: LossConfig) -> None:
    """Raise ConfigError where the data have no targets for a head that is to learn."""
    wanted: dict[str, tuple[str, Callable[[Any], bool]]] = {}
    if loss.reply_weight > 0:
        wanted["reply"] = ("reply=True", lambda found: found.ndim == 2)
        wanted["replied"] = ("reply=True", lambda found: found.ndim == 1)
    if loss.final_board:
        wanted["ended"] = ("final_board=True", lambda found: found.ndim == 1)
    if loss.ownership_weight > 0:
        wanted["ownership"] = ("final_board=True", lambda found: found.ndim == 3)
    if loss.score_weight > 0:
        made_by = "final_board=True of Go or Othello"
        wanted["score"] = (made_by, lambda found: found.ndim == 1)
    horizons = loss.target_horizons
    if horizons:
        made_by = f"horizons={list(horizons)}"
        wanted["short_values"] = (made_by, lambda found: found.shape == (1, len(horizons)))
    for each in data:
        there = getattr(each, "horizons", horizons)
        if horizons and tuple(there) not in ((), horizons):
            raise ConfigError(
                f"data: expected the horizons of the loss, {list(horizons)}, found {list(there)}"
            )
    for each in data if wanted else ():
        if len(each) == 0:
            continue
        row = each.sample(1, np.random.default_rng(0), augment=False)
        for name, (made_by, fits) in wanted.items():
            array = row.get(name)
            if not (isinstance(array, np.ndarray) and fits(array)):
                raise ConfigError(
                    f"data: expected sample(1, ...) to return {name} for the weights of the loss, "
                    f"as a Dataset with {made_by} does, found {found(array)}"
                )


def _shape(data: TrainingData) -> Shape:
    row: Any = data.sample(1, np.random.default_rng(0), augment=False)
    arrays = row if isinstance(row, Mapping) else {}
    for name, dimensions in _DIMENSIONS.items():
        array = arrays.get(name)
        if not (isinstance(array, np.ndarray) and array.ndim == dimensions and len(array) == 1):
            there = found(row if arrays is not row else array)
            raise ConfigError(
                f"data: expected sample(1, ...) to return {name} as an array of {dimensions} "
                f"dimensions and one row, found {there}"
            )
    _, planes, height, width = arrays["planes"].shape
    return (int(planes), int(height), int(width)), int(arrays["policy"].shape[1])


def _told(shape: Shape) -> str:
    (planes, height, width), actions = shape
    return f"{planes} planes of {height}x{width} with {actions} actions"
