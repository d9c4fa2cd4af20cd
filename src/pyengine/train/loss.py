"""The loss: ``(z - v)² - πᵀ log p``; the term ``c‖θ‖²`` is the optimiser's weight decay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.configs import LossConfig

__all__ = ["Losses", "losses", "losses_together", "regularisation", "value_target"]


@dataclass(frozen=True)
class Losses:
    """Scalars of one batch; all but ``total`` are for reading."""

    total: Tensor  #: what is minimised, without the weight decay
    policy: Tensor  #: cross entropy to the visits, in nats, over positions with a target
    value: Tensor  #: mean squared error in [0, 4], or cross entropy in nats
    divergence: Tensor  #: policy less the targets' own entropy: 0 is perfect


def losses(
    outputs: tuple[Tensor, Tensor], batch: Mapping[str, Tensor], config: LossConfig
) -> Losses:
    """Return the losses of a batch.

    Args:
        outputs: policy logits [N,A]; value [N,1] in [-1, 1] or logits [N,3] of win, draw, loss.
        batch: ``policy`` [N,A] (visits normalised), ``value`` [N] in [-1, 1]; where there are:
            ``root_value`` [N], and ``full`` [N], 0 for a position without a policy target.
        config: weights.

    """
    found = _means(outputs, batch, config)
    return _losses(found.cross, found.entropy, found.evaluated, config)


def losses_together(
    outputs: Sequence[tuple[Tensor, Tensor]],
    parts: Sequence[Mapping[str, Tensor]],
    config: LossConfig,
) -> Losses:
    """Return the losses of a batch in parts, each of a board: as if they were one.

    Arguments as of :func:`losses`, one for each part.
    """
    pairs = zip(outputs, parts, strict=True)
    found = [_means(output, part, config) for output, part in pairs]
    taught = torch.stack([each.taught for each in found])
    rows = taught.new_tensor([len(part["value"]) for part in parts])
    of_policy, of_value = taught / taught.sum().clamp(min=1), rows / rows.sum()
    cross = (of_policy * torch.stack([each.cross for each in found])).sum()
    entropy = (of_policy * torch.stack([each.entropy for each in found])).sum()
    evaluated = (of_value * torch.stack([each.evaluated for each in found])).sum()
    return _losses(cross, entropy, evaluated, config)


@dataclass(frozen=True)
class _Means:
    """Scalars of positions: means over those with a policy target, or over all."""

    cross: Tensor
    entropy: Tensor
    evaluated: Tensor  # of the value, over all
    taught: Tensor  # how many have a policy target


def _means(
    outputs: tuple[Tensor, Tensor], batch: Mapping[str, Tensor], config: LossConfig
) -> _Means:
    logits, value = outputs
    policy = batch["policy"]
    log_p = functional.log_softmax(logits, dim=1)
    weights = batch["full"].to(log_p.dtype) if "full" in batch else log_p.new_ones(len(log_p))
    taught = weights.sum()
    shares = weights / taught.clamp(min=1)
    cross = -(shares * (policy * log_p).sum(dim=1)).sum()
    entropy = -(shares * torch.special.xlogy(policy, policy).sum(dim=1)).sum()
    target = value_target(batch, config)
    if value.shape[1] == 3:
        evaluated = -(outcome_shares(target) * functional.log_softmax(value, dim=1)).sum(1).mean()
    else:
        evaluated = functional.mse_loss(value[:, 0], target)
    return _Means(cross, entropy, evaluated, taught)


def _losses(cross: Tensor, entropy: Tensor, evaluated: Tensor, config: LossConfig) -> Losses:
    total = cross + config.value_weight * evaluated
    return Losses(total, cross.detach(), evaluated.detach(), (cross - entropy).detach())


def value_target(batch: Mapping[str, Tensor], config: LossConfig) -> Tensor:
    """Return z [N], mixed with the search's root value as far as the configuration says."""
    mix = config.root_value_mix
    if mix == 0 or "root_value" not in batch:
        return batch["value"]
    return (1 - mix) * batch["value"] + mix * batch["root_value"]


def outcome_shares(value: Tensor) -> Tensor:
    """Return [N,3] shares of win, draw and loss with the mean ``value`` [N] in [-1, 1].

    An outcome is itself: 1, 0 or -1. Between them the draw takes what is left, so that the search,
    which uses the mean alone, sees the value.
    """
    win, loss = value.clamp(min=0), (-value).clamp(min=0)
    return torch.stack([win, 1 - win - loss, loss], dim=1)


def regularisation(network: nn.Module, c: float) -> Tensor:
    """Return ``c‖θ‖²`` over all parameters, whose gradient is that of a weight decay of ``2c``."""
    squares = [parameter.square().sum() for parameter in network.parameters()]
    return c * torch.stack(squares).sum()
