"""The loss ``(z - v)² - πᵀ log p``; the term ``c‖θ‖²`` is the optimiser's weight decay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.configs import LossConfig

#: Errors in points beyond which a score's loss is linear instead of squared [KataGo's training
#: code; Wu 2019 uses 10].
SCORE_DELTA = 12.0


class Outputs(NamedTuple):
    """What a network returns for positions of one board size."""

    policy: Tensor  #: logits [N,A]
    value: Tensor  #: [N,1] in [-1, 1], or logits [N,3] of win, draw, loss
    #: Outputs of auxiliary heads: ``reply`` [N,A] logits, ``short_values`` [N,K], ``ownership``
    #: [N,H,W] before tanh, ``score`` [N] in points.
    heads: Mapping[str, Tensor] = {}


@dataclass(frozen=True)
class Losses:
    """The losses of one batch as scalars; only ``total`` is minimised."""

    total: Tensor  #: minimised, excluding weight decay
    policy: Tensor  #: cross entropy with the visits in nats, over positions with a target
    value: Tensor  #: mean squared error in [0, 4], or cross entropy in nats, of decided games
    divergence: Tensor  #: policy loss minus the targets' own entropy: 0 is perfect
    # 0 unless learned:
    reply: Tensor  #: cross entropy with the opponent's replies, in nats
    short_value: Tensor  #: mean squared error of values a few plies later
    ownership: Tensor  #: cross entropy of the predicted ownership at the end, in nats
    score: Tensor  #: Huber loss of the final score in points


#: The mean over the rows with a target, and the number of such rows.
_Term: TypeAlias = tuple[Tensor, Tensor]


def losses(
    outputs: Sequence[Outputs], parts: Sequence[Mapping[str, Tensor]], config: LossConfig
) -> Losses:
    """Return the losses of a batch, whose positions are in one part per board size.

    Args:
        outputs: of the network, for each part.
        parts: ``policy`` [N,A] (visits normalised), ``value`` [N] in [-1, 1]; optionally
            ``root_value`` [N], ``full`` [N], 0 for a position without a policy target, and
            ``decided`` [N], 0 for one without a value target; for auxiliary heads ``reply`` [N,A],
            ``replied`` [N], ``short_values`` [N,K], ``ownership`` [N,H,W] in [-1, 1], ``score`` [N]
            in points and ``ended`` [N], 0 if these two are no targets.
        config: weights.

    """
    pairs = zip(outputs, parts, strict=True)
    terms = [_terms(output, part, config) for output, part in pairs]
    means = {name: _mean([part[name] for part in terms]) for name in terms[0]}
    entropy = means.pop("entropy")
    total = means["policy"] + config.value_weight * means["value"]
    for name in AUXILIARY:
        weight = getattr(config, f"{name}_weight")
        if weight > 0:
            total = total + weight * means[name]
    divergence = (means["policy"] - entropy).detach()
    means = {name: mean.detach() for name, mean in means.items()}
    return Losses(total=total, divergence=divergence, **means)


def _terms(outputs: Outputs, batch: Mapping[str, Tensor], config: LossConfig) -> dict[str, _Term]:
    policy, full = batch["policy"], batch.get("full")
    zero = outputs.policy.new_zeros(())
    terms = dict.fromkeys(AUXILIARY, (zero, zero))
    terms["policy"] = _mean_of(_cross_entropy(outputs.policy, policy), full)
    terms["entropy"] = _mean_of(-torch.special.xlogy(policy, policy).sum(dim=1), full)
    terms["value"] = _mean_of(_value(outputs.value, batch, config), batch.get("decided"))
    for name, (head, term_of) in _AUXILIARY.items():
        if head in outputs.heads:
            terms[name] = term_of(outputs.heads[head], batch)
    return terms


def _reply(logits: Tensor, batch: Mapping[str, Tensor]) -> _Term:
    return _mean_of(_cross_entropy(logits, batch["reply"]), batch["replied"])


def _short_value(values: Tensor, batch: Mapping[str, Tensor]) -> _Term:
    squares = functional.mse_loss(values, batch["short_values"])
    return squares, values.new_full((), len(values))


def _ownership(logits: Tensor, batch: Mapping[str, Tensor]) -> _Term:
    """Return the cross entropy of each board's points.

    tanh(x) in [-1, 1] means that the point is the player's with probability (1 + tanh(x)) / 2,
    which is the sigmoid of 2x [Wu 2019, section 4.1: a cross entropy].
    """
    points = functional.binary_cross_entropy_with_logits(
        2 * logits, (1 + batch["ownership"]) / 2, reduction="none"
    )
    return _mean_of(points.mean(dim=(1, 2)), batch["ended"])


def _score(points: Tensor, batch: Mapping[str, Tensor]) -> _Term:
    errors = functional.huber_loss(points, batch["score"], reduction="none", delta=SCORE_DELTA)
    return _mean_of(errors, batch["ended"])


#: Auxiliary losses by name, with the head of each; ``NAME_weight`` in the settings is the weight,
#: and above 0 enables the head.
_AUXILIARY: dict[str, tuple[str, Callable[[Tensor, Mapping[str, Tensor]], _Term]]] = {
    "reply": ("reply", _reply),
    "short_value": ("short_values", _short_value),
    "ownership": ("ownership", _ownership),
    "score": ("score", _score),
}
AUXILIARY = tuple(_AUXILIARY)


def _cross_entropy(logits: Tensor, policy: Tensor) -> Tensor:
    return -(policy * functional.log_softmax(logits, dim=1)).sum(dim=1)


def _value(value: Tensor, batch: Mapping[str, Tensor], config: LossConfig) -> Tensor:
    if value.shape[1] == 3:
        return _cross_entropy(value, outcome_target(batch, value, config))
    return (value[:, 0] - value_target(batch, config)).square()


def _mean_of(rows: Tensor, counts: Tensor | None) -> _Term:
    """Return the mean over the counted rows (None: all), 0 without any, and their number."""
    weights = rows.new_ones(len(rows)) if counts is None else counts.to(rows.dtype)
    count = weights.sum()
    return (weights / count.clamp(min=1) * rows).sum(), count


def _mean(parts: Sequence[_Term]) -> Tensor:
    """Return the mean of the parts' means, weighted by their numbers of rows."""
    if len(parts) == 1:
        return parts[0][0]
    means, counts = (torch.stack(column) for column in zip(*parts, strict=True))
    return (counts / counts.sum().clamp(min=1) * means).sum()


def value_target(batch: Mapping[str, Tensor], config: LossConfig) -> Tensor:
    """Return z [N], mixed with the search's root value according to the configuration."""
    mix = config.root_value_mix
    if mix == 0 or "root_value" not in batch:
        return batch["value"]
    return (1 - mix) * batch["value"] + mix * _root_value(batch)


def outcome_target(batch: Mapping[str, Tensor], logits: Tensor, config: LossConfig) -> Tensor:
    """Return probabilities [N,3] of win, draw and loss: z, mixed with the search's root value.

    A root value is a mean and does not determine the probability of a draw. So it is combined with
    the network's own draw probability, as far as the mean allows, and only outcomes train how
    likely draws are: if games cannot be drawn, that they are impossible.

    Args:
        batch: see :func:`losses`.
        logits: [N,3], the network's; no gradient flows through the targets.
        config: the mix.

    """
    outcome = outcome_shares(batch["value"])
    mix = config.root_value_mix
    if mix == 0 or "root_value" not in batch:
        return outcome
    root = _root_value(batch)
    drawn = functional.softmax(logits.detach(), dim=1)[:, 1].to(root.dtype)
    draw = torch.minimum(drawn, 1 - root.abs())
    shares = torch.stack([(1 - draw + root) / 2, draw, (1 - draw - root) / 2], dim=1)
    return (1 - mix) * outcome + mix * shares


def _root_value(batch: Mapping[str, Tensor]) -> Tensor:
    """Return the search's value, clipped to [-1, 1], which a network's values may exceed."""
    return batch["root_value"].clamp(-1, 1)


def outcome_shares(value: Tensor) -> Tensor:
    """Convert outcomes [N] in [-1, 1] to probabilities [N,3] of win, draw and loss.

    1, 0 and -1 are a win, a draw and a loss. For results in between, which a user's game may have,
    the draw gets the remainder, so the mean, the only thing the search uses, is preserved.
    """
    win, loss = value.clamp(min=0), (-value).clamp(min=0)
    return torch.stack([win, 1 - win - loss, loss], dim=1)
