"""What a learner needs of its data."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyengine.spec import ModelSpec

__all__ = ["TrainingData"]


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
        for a position without a policy target.
        """
