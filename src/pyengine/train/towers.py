"""Towers of residual blocks: with batch normalisation, and with fixed scales in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.blocks import Branch, Features, each, layer_of, normalised
from pyengine.train.configs import NetworkConfig


class Tower(nn.Module):
    """Residual blocks ``relu(x + branch(x))`` after a relu, from [N,F,H,W] to the same shape.

    Each block is initialised as ``relu(x)``. With random initialisation, activations would double
    from block to block at first: 20 blocks gave policy logits in the thousands and values of 1 or
    -1.

    Args:
        branches: their layers have batch normalisation.
    """

    def __init__(self, branches: Iterable[Branch | NestedBranch]) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)
        for branch in self.branches:
            nn.init.zeros_(branch.last[1].weight)  # [Goyal et al. 2017, 5.1]

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to the same shape, for each board size."""
        x = each(functional.relu, x)
        for branch in self.branches:
            x = each(lambda x, y: functional.relu(x + y), x, branch(x))
        return x


class ScaledTower(nn.Module):
    """Residual blocks ``x + branch(scale relu(x))`` without batch normalisation [KataGo].

    Each branch initially adds 1 to a variance that starts at 1, so before block k it is k + 1, and
    the scale ``1 / sqrt(k + 1)`` gives each branch inputs of the same size. A relu and the next
    scale, or batch normalisation and a relu, follow the last block.

    Args:
        branches: their layers have no batch normalisation.
        norm: the batch normalisation at the end, if any.
    """

    def __init__(
        self, branches: Iterable[Branch | NestedBranch], norm: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.norm = norm

    @property
    def scales(self) -> list[float]:
        """The scale of each branch's input, and that of the output."""
        return [(number + 1) ** -0.5 for number in range(len(self.branches) + 1)]

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to the same shape, for each board size."""
        *scales, last = self.scales
        for branch, scale in zip(self.branches, scales, strict=True):
            x = each(torch.add, x, branch(_rectified(x, scale)))
        if self.norm is None:
            return _rectified(x, last)
        return each(functional.relu, normalised(self.norm, x))


def _rectified(x: Features, scale: float) -> Any:
    def rectified(x: Tensor) -> Tensor:
        return functional.relu(x) * scale

    return each(rectified, x)


class NestedBranch(nn.Module):
    """A tower at half the filters between two 1x1 convolutions, [N,F,H,W] to the same shape.

    It is the branch of KataGo's nested bottleneck block. The first inner block has the global
    pooling.
    """

    def __init__(self, config: NetworkConfig, *, pooling: bool) -> None:
        super().__init__()
        layer, width = layer_of(config), max(1, config.filters // 2)
        self.down = layer(config.filters, width, 1)
        self.tower = _tower(
            config,
            [
                Branch(
                    width,
                    layer,
                    pooling=pooling and number == 0,
                    excitation=config.squeeze_excitation,
                )
                for number in range(config.inner_blocks)
            ],
        )
        self.up = layer(width, config.filters, 1)

    @property
    def last(self) -> nn.Module:
        """The last convolution: if it returns 0, the branch does."""
        return self.up

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to the same shape, for each board size."""
        return self.up(self.tower(self.down(x)))


def tower_of(config: NetworkConfig) -> Tower | ScaledTower:
    """Return the tower of a network, randomly initialised."""
    branches = [_branch(config, number) for number in range(config.blocks)]
    norm = nn.BatchNorm2d(config.filters) if config.normalisation == "once" else None
    return _tower(config, branches, norm)


def _tower(
    config: NetworkConfig, branches: Iterable[Branch | NestedBranch], norm: nn.Module | None = None
) -> Tower | ScaledTower:
    return Tower(branches) if config.normalisation == "batch" else ScaledTower(branches, norm)


def _branch(config: NetworkConfig, number: int) -> Branch | NestedBranch:
    every = config.pooling_every
    pooling = every > 0 and (number + 1) % every == 0
    if config.inner_blocks:
        return NestedBranch(config, pooling=pooling)
    return Branch(
        config.filters, layer_of(config), pooling=pooling, excitation=config.squeeze_excitation
    )
