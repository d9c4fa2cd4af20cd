"""The heads of a network: AlphaGo Zero's, for one board size, and convolutional ones, for any."""

from __future__ import annotations

from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.blocks import ConvNorm, Features, each, pooled
from pyengine.train.configs import NetworkConfig

SCORE_SCALE = 20.0  #: points per unit of the score head's output, which has the range of a value


class FlatPolicy(nn.Module):
    """AlphaGo Zero's policy head: a 1x1 convolution and a fully connected layer."""

    def __init__(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        super().__init__()
        self._make_policy(config, board, actions)

    def _make_policy(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        self.policy_conv = ConvNorm(config.filters, config.policy_filters, 1)
        self.policy_out = nn.Linear(config.policy_filters * board[0] * board[1], actions)

    def forward(self, x: Features) -> Any:
        return each(self._policy, self.policy_conv(x))

    def _policy(self, x: Tensor) -> Tensor:
        return self.policy_out(functional.relu(x).flatten(1))


class FlatValue(nn.Module):
    """AlphaGo Zero's value head: a 1x1 convolution, a hidden layer and the outputs."""

    def __init__(self, config: NetworkConfig, board: tuple[int, int], outputs: int) -> None:
        super().__init__()
        self._make_value(config, board, outputs)

    def _make_value(self, config: NetworkConfig, board: tuple[int, int], outputs: int) -> None:
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        points = board[0] * board[1]
        self.value_hidden = nn.Linear(config.value_filters * points, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, outputs)

    def forward(self, x: Features) -> Any:
        return each(self._value, self.value_conv(x))

    def _value(self, x: Tensor) -> Tensor:
        return self.value_out(functional.relu(self.value_hidden(functional.relu(x).flatten(1))))


class PooledPolicy(nn.Module):
    """A logit for each point, with a bias from the whole board, and optionally one for the pass."""

    def __init__(self, config: NetworkConfig, has_pass: bool) -> None:
        super().__init__()
        self._make_policy(config, has_pass)

    def _make_policy(self, config: NetworkConfig, has_pass: bool) -> None:
        width = config.policy_filters
        self.policy_conv = ConvNorm(config.filters, width, 1)
        self.policy_pooled = ConvNorm(config.filters, width, 1)
        self.policy_bias = nn.Linear(3 * width, width)
        self.policy_out = nn.Conv2d(width, 1, 1)
        self.pass_out = nn.Linear(3 * width, 1) if has_pass else None

    def forward(self, x: Features) -> Any:
        return each(self._policy, self.policy_pooled(x), self.policy_conv(x))

    def _policy(self, seen: Tensor, points: Tensor) -> Tensor:
        board = pooled(functional.relu(seen))
        bias = self.policy_bias(board)[:, :, None, None]
        policy = self.policy_out(functional.relu(points + bias)).flatten(1)
        return policy if self.pass_out is None else torch.cat([policy, self.pass_out(board)], dim=1)


class PooledValue(nn.Module):
    """A value from features pooled over the board, through a hidden layer."""

    def __init__(self, config: NetworkConfig, outputs: int) -> None:
        super().__init__()
        self._make_value(config, outputs)

    def _make_value(self, config: NetworkConfig, outputs: int) -> None:
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(3 * config.value_filters, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, outputs)

    def forward(self, x: Features) -> Any:
        return each(self._value, self.value_conv(x))

    def _value(self, x: Tensor) -> Tensor:
        return self.value_out(functional.relu(self.value_hidden(pooled(functional.relu(x)))))


class PublishedHeads(FlatPolicy, FlatValue):
    """AlphaGo Zero's heads, for one board: [N,F,H,W] to policy logits [N,A] and value [N,1 or 3].

    As in all heads here, the value is the one before its last non-linearity.
    """

    def __init__(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        nn.Module.__init__(self)
        self._make_policy(config, board, actions)
        self._make_value(config, board, _outcomes(config))

    def forward(self, x: Features) -> Any:
        return each(self._evaluated, self.policy_conv(x), self.value_conv(x))

    def _evaluated(self, policy: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return self._policy(policy), self._value(value)


class ConvolutionalHeads(PooledPolicy, PooledValue):
    """Heads of 1x1 convolutions and global pooling, for boards of any size [idea: KataGo].

    One action per point and optionally a pass: [N,F,H,W] to policy logits [N,H*W(+1)] and value
    [N,1 or 3]. Pooling gives the mean, the mean times :func:`board_scale`, and the maximum.
    """

    def __init__(self, config: NetworkConfig, has_pass: bool) -> None:
        nn.Module.__init__(self)
        self._make_policy(config, has_pass)
        self._make_value(config, _outcomes(config))

    def forward(self, x: Features) -> Any:
        seen, points = self.policy_pooled(x), self.policy_conv(x)
        return each(self._evaluated, seen, points, self.value_conv(x))

    def _evaluated(self, seen: Tensor, points: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return self._policy(seen, points), self._value(value)


class ValueHead(PooledValue):
    """Only the value head of :class:`ConvolutionalHeads`; all policy logits are 0."""

    def __init__(self, config: NetworkConfig, has_pass: bool) -> None:
        super().__init__(config, _outcomes(config))
        self.has_pass = has_pass

    def forward(self, x: Features) -> Any:
        return each(self._evaluated, self.value_conv(x))

    def _evaluated(self, x: Tensor) -> tuple[Tensor, Tensor]:
        actions = x.shape[2] * x.shape[3] + int(self.has_pass)
        return x.new_zeros(len(x), actions), self._value(x)


def _outcomes(config: NetworkConfig) -> int:
    return 3 if config.value == "wdl" else 1


def heads_of(config: NetworkConfig, board: tuple[int, int], actions: int) -> nn.Module:
    """Return randomly initialised heads for a board."""
    if config.kind == "alphago_zero":
        return PublishedHeads(config, board, actions)
    heads = ValueHead if config.kind == "value" else ConvolutionalHeads
    return heads(config, has_pass=actions > board[0] * board[1])


class Ownership(nn.Module):
    """The ownership head: one number per point, before tanh."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.out = nn.Conv2d(config.filters, 1, 1)

    def forward(self, x: Features) -> Any:
        return each(lambda x: self.out(x)[:, 0], x)


class AuxiliaryHeads(nn.Module):
    """Auxiliary heads for training, built like the network's main heads.

    Evaluation ignores them, and export drops all except ownership and score, which are optional.

    Args:
        config, board, actions: the network's.
        reply: whether to predict the opponent's reply, policy logits [N,A] of the next position
            [Wu 2019, "Accelerating self-play learning in Go", section 3.4].
        horizons: K, the number of values a few plies later, [N,K] in [-1, 1], for the player to
            move [KataGoMethods.md, "Short-term Value and Score Targets"].
        ownership, score: whether to predict the final board, for the player to move: ownership by
            a 1x1 convolution, the score by a head like the value head [Wu 2019, section 4.1].
    """

    def __init__(
        self,
        config: NetworkConfig,
        board: tuple[int, int],
        actions: int,
        *,
        reply: bool,
        horizons: int,
        ownership: bool,
        score: bool,
    ) -> None:
        super().__init__()
        flat, has_pass = config.kind == "alphago_zero", actions > board[0] * board[1]
        self.flat = flat  #: whether the heads have fully connected layers, for one board size
        self.reply: nn.Module | None = None
        self.values: nn.Module | None = None
        self.ownership: nn.Module | None = None
        self.score: nn.Module | None = None
        # The order matters: adding a head does not change the random weights of earlier ones.
        if reply:
            self.reply = (
                FlatPolicy(config, board, actions) if flat else PooledPolicy(config, has_pass)
            )
        if horizons:
            self.values = (
                FlatValue(config, board, horizons) if flat else PooledValue(config, horizons)
            )
        if ownership:
            self.ownership = Ownership(config)
        if score:
            self.score = FlatValue(config, board, 1) if flat else PooledValue(config, 1)

    def forward(self, x: Features) -> Any:
        """Return the outputs by name, for each board.

        ``reply``, ``short_values``; ``ownership`` [N,H,W] before tanh, ``score`` [N] in points.
        """
        outputs: dict[str, Any] = {}
        if self.reply is not None:
            outputs["reply"] = self.reply(x)
        if self.values is not None:
            outputs["short_values"] = each(torch.tanh, self.values(x))
        if self.ownership is not None:
            outputs["ownership"] = self.ownership(x)
        if self.score is not None:
            outputs["score"] = each(lambda score: score[:, 0] * SCORE_SCALE, self.score(x))
        if isinstance(x, Tensor):
            return outputs
        return [{name: parts[i] for name, parts in outputs.items()} for i in range(len(x))]

    def final_board(self, x: Tensor) -> dict[str, Tensor]:
        """Return ``ownership`` [N,H,W] in [-1, 1] and ``score`` [N] in points, if learned."""
        outputs: dict[str, Tensor] = {}
        if self.ownership is not None:
            outputs["ownership"] = torch.tanh(self.ownership(x))
        if self.score is not None:
            outputs["score"] = self.score(x)[:, 0] * SCORE_SCALE
        return outputs
