"""Positions of several boards in one batch: a tensor a board, normalised together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253

__all__ = ["ConvNorm", "Features", "each"]

#: [N,F,H,W], or such a tensor for each of several boards.
Features: TypeAlias = Tensor | Sequence[Tensor]


def each(function: Callable[..., Any], *features: Any) -> Any:
    """Return what a function of a tensor says, or of lists of tensors a list of that."""
    if isinstance(features[0], Tensor):
        return function(*features)
    return [function(*parts) for parts in zip(*features, strict=True)]


class ConvNorm(nn.Sequential):
    """A convolution that keeps the board's shape, then batch normalisation.

    While training, a batch of several boards is normalised by the statistics of all its points.
    Evaluation has one mean and one variance for all boards: had each board been normalised by its
    own, the network would have learnt to rely on what evaluation cannot give it.
    """

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        """Make the kernel random."""
        conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
        super().__init__(conv, nn.BatchNorm2d(outputs))

    def forward(self, x: Features) -> Any:
        """[N,F,H,W], of one board or of each of several, to the same."""
        conv, norm = self
        found = each(conv, x)
        if isinstance(found, Tensor) or not norm.training:
            return each(norm, found)
        return _normalised_together(norm, found)


def _normalised_together(norm: nn.Module, features: Sequence[Tensor]) -> list[Tensor]:
    """Return each tensor normalised; the points of all are one batch to the layer.

    The batch is [points,F,1,1]. As a view [1,F,points,1] PyTorch's gradient of it is wrong.
    """
    rows = [x.permute(0, 2, 3, 1).reshape(-1, x.shape[1]) for x in features]
    found = norm(torch.cat(rows)[:, :, None, None])[:, :, 0, 0]
    parts = found.split([len(row) for row in rows])
    shapes = [(len(x), *x.shape[2:], x.shape[1]) for x in features]
    pairs = zip(parts, shapes, strict=True)
    return [part.reshape(shape).permute(0, 3, 1, 2) for part, shape in pairs]
