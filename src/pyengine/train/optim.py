"""Optimisers and averaged networks."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import nn  # noqa: TID253

from pyengine.train.blocks import Features
from pyengine.train.configs import AverageConfig, OptimiserConfig
from pyengine.train.network import Network


def optimiser_of(network: nn.Module, config: OptimiserConfig) -> torch.optim.Optimizer:
    """Return an optimiser of all parameters; the rate is set before each step.

    Weights of convolutions and linear layers decay. Biases and normalisation scales do not: they
    are one number per channel and do not overfit.
    """
    decaying = [weight for weight in network.parameters() if weight.ndim > 1]
    others = [weight for weight in network.parameters() if weight.ndim <= 1]
    # The gradient of c‖θ‖² is 2cθ; PyTorch's weight decay of w adds wθ.
    decay = config.weight_decay if config.kind == "adamw" else 2 * config.weight_decay
    groups = [
        {"params": decaying, "weight_decay": decay},
        {"params": others, "weight_decay": 0.0},
    ]
    if config.kind == "adamw":
        return torch.optim.AdamW(groups, lr=0.0, fused=True)
    return torch.optim.SGD(groups, lr=0.0, momentum=config.momentum, fused=True)


def restore(optimiser: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Load a state; its tensors get the memory format of their parameters.

    Fused optimisers need equal formats, and ``channels_last`` may change when a run is resumed.
    """
    optimiser.load_state_dict(state)
    for parameter, entries in optimiser.state.items():
        for name, value in entries.items():
            if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
                entries[name] = torch.empty_like(parameter).copy_(value)


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimiser.param_groups:
        group["lr"] = rate


def average_of(network: nn.Module, config: AverageConfig) -> Any:
    """Return an ``AveragedModel`` of the network, including statistics; None without averaging."""
    if config.kind == "none":
        return None
    from torch.optim.swa_utils import AveragedModel

    def mix(average: list[Any], current: list[Any], count: Any) -> None:
        weight = 1 / (float(count) + 1)
        if config.kind == "ema":  # a young average forgets its random start sooner
            weight = max(1 - config.decay, 9 / (float(count) + 10))
        if torch.is_floating_point(average[0]):
            torch._foreach_lerp_(average, current, weight)
        else:  # batch counters
            for target, source in zip(average, current, strict=True):
                target.copy_(source)

    return AveragedModel(network, multi_avg_fn=mix, use_buffers=True)


def with_statistics(network: Network, planes: Iterable[Features]) -> Network:
    """Return a copy whose normalisation has the statistics of the given batches of planes.

    An average of distant weights computes different activations from each of them, so the average
    of their statistics does not fit it [Izmailov et al. 2018].
    """
    duplicate = copy.deepcopy(network)
    duplicate.half = False
    norms = [layer for layer in duplicate.modules() if isinstance(layer, nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    was_training = duplicate.training
    duplicate.train()
    with torch.no_grad():
        for batch in planes:
            duplicate(batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    duplicate.train(was_training)
    return duplicate
