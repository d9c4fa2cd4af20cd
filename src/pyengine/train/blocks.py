"""The layers and branches of a tower, for batches with one or several board sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.configs import NetworkConfig

#: [N,F,H,W], or one such tensor per board size.
Features: TypeAlias = Tensor | Sequence[Tensor]


def each(function: Callable[..., Any], *features: Any) -> Any:
    """Apply a function to a tensor, or to each tensor of a list."""
    if isinstance(features[0], Tensor):
        return function(*features)
    return [function(*parts) for parts in zip(*features, strict=True)]


class ConvNorm(nn.Sequential):
    """A convolution that preserves the board's shape, followed by batch normalisation.

    During training, a batch with several boards is normalised by the statistics of all its points.
    Evaluation has one mean and variance for all boards, so normalising each board separately would
    train the network to rely on statistics that evaluation does not have.
    """

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
        super().__init__(conv, nn.BatchNorm2d(outputs))

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to [N,O,H,W], for each board size."""
        conv, norm = self
        return normalised(norm, each(conv, x))


class BiasedConv(nn.Conv2d):
    """A convolution that preserves the board's shape, with a bias in place of normalisation.

    Initially it maps rectified values of variance 1 to values of variance 1.
    """

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        super().__init__(inputs, outputs, size, padding=size // 2)
        nn.init.kaiming_normal_(self.weight, nonlinearity="relu")
        assert self.bias is not None
        nn.init.zeros_(self.bias)

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to [N,O,H,W], for each board size."""
        return each(super().forward, x)


#: From numbers of inputs and outputs and the kernel's size to a layer.
LayerType: TypeAlias = type[ConvNorm] | type[BiasedConv]


def layer_of(config: NetworkConfig) -> LayerType:
    """Return the convolution for the network's kind of normalisation."""
    return ConvNorm if config.normalisation == "batch" else BiasedConv


def normalised(norm: nn.Module, features: Features) -> Any:
    """Apply batch normalisation, during training with the statistics of all boards."""
    if isinstance(features, Tensor) or not norm.training:
        return each(norm, features)
    return _normalised_together(norm, features)


def _normalised_together(norm: nn.Module, features: Sequence[Tensor]) -> list[Tensor]:
    """Normalise tensors with shared statistics over all their points.

    The batch is [points,F,1,1]. For a view [1,F,points,1] PyTorch computes a wrong gradient.
    """
    rows = [x.permute(0, 2, 3, 1).reshape(-1, x.shape[1]) for x in features]
    normalised = norm(torch.cat(rows)[:, :, None, None])[:, :, 0, 0]
    parts = normalised.split([len(row) for row in rows])
    shapes = [(len(x), *x.shape[2:], x.shape[1]) for x in features]
    pairs = zip(parts, shapes, strict=True)
    return [part.reshape(shape).permute(0, 3, 1, 2) for part, shape in pairs]


#: Board side at which :func:`board_scale` is 0, and its step [KataGo].
SCALE_MIDDLE, SCALE_STEP = 14.0, 0.1


def board_scale(height: int, width: int) -> float:
    """Return the scaled size of a board, about -1 to 1: ``(sqrt(H W) - 14) / 10`` [KataGo]."""
    return float(((height * width) ** 0.5 - SCALE_MIDDLE) * SCALE_STEP)


def pooled(x: Tensor) -> Tensor:
    """Pool [N,F,H,W] to [N,3F]: mean, mean times the board's scale, maximum."""
    mean = x.mean(dim=(2, 3))
    scale = board_scale(x.shape[2], x.shape[3])
    return torch.cat([mean, mean * scale, x.amax(dim=(2, 3))], dim=1)


def _on_points(x: Tensor) -> Tensor:
    """Reshape [N,F] to [N,F,1,1], which broadcasts over the board."""
    return x[:, :, None, None]


class BoardBias(nn.Module):
    """A bias per channel computed from the whole board: global pooling in the tower [KataGo].

    A convolution to a quarter of the channels is pooled and mapped linearly: [N,F,H,W] to
    [N,F,1,1].
    """

    def __init__(self, filters: int, layer: LayerType) -> None:
        super().__init__()
        width = max(1, filters // 4)
        self.conv = layer(filters, width, 3)
        self.out = nn.Linear(3 * width, filters)

    def forward(self, x: Features) -> Any:
        """Return the bias, for each board size."""
        return each(lambda x: _on_points(self.out(pooled(functional.relu(x)))), self.conv(x))


class Excitation(nn.Module):
    """Squeeze and excitation: ``sigmoid(scale) x + shift`` [Hu et al. 2018, with Lc0's shift].

    Scale and shift of each channel are computed from the means of all channels over the board,
    through a hidden layer.
    """

    def __init__(self, filters: int, units: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(filters, units)
        self.scale = nn.Linear(units, filters)
        self.shift = nn.Linear(units, filters)

    def forward(self, x: Tensor) -> Tensor:
        """Map [N,F,H,W] to the same shape."""
        hidden = functional.relu(self.hidden(x.mean(dim=(2, 3))))
        scale = torch.sigmoid(self.scale(hidden))
        return _on_points(scale) * x + _on_points(self.shift(hidden))


class Branch(nn.Module):
    """The branch of a residual block, ``second(relu(first(x)))``, [N,F,H,W] to the same shape.

    Args:
        filters: F.
        layer: the type of its convolutions.
        pooling: whether a :class:`BoardBias` is added to the first convolution.
        excitation: hidden units of an :class:`Excitation` after the second one; 0 = none.
    """

    def __init__(
        self,
        filters: int,
        layer: LayerType = ConvNorm,
        *,
        pooling: bool = False,
        excitation: int = 0,
    ) -> None:
        super().__init__()
        self.first = layer(filters, filters, 3)
        self.board_bias = BoardBias(filters, layer) if pooling else None
        self.second = layer(filters, filters, 3)
        self.excitation = Excitation(filters, excitation) if excitation else None
        if self.excitation is not None:
            nn.init.zeros_(self.excitation.shift.weight)
            nn.init.zeros_(self.excitation.shift.bias)

    @property
    def last(self) -> nn.Module:
        """The last convolution: if it returns 0, a new branch does."""
        return self.second

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to the same shape, for each board size."""
        inner = self.first(x)
        if self.board_bias is not None:
            inner = each(torch.add, inner, self.board_bias(x))
        inner = self.second(each(functional.relu, inner))
        return inner if self.excitation is None else each(self.excitation, inner)
