"""The heads of a network: AlphaGo Zero's, for one board size, and convolutional ones, for any."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.train.blocks import Features, each, layer_of, pooled
from pyengine.train.configs import LossConfig, NetworkConfig
from pyengine.train.point_actions import PointActions, point_actions

SCORE_SCALE = 20.0  #: points per unit of the score head's output, which has the range of a value


class FlatPolicy(nn.Module):
    """AlphaGo Zero's policy head: a 1x1 convolution and a fully connected layer."""

    def __init__(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        super().__init__()
        self.policy_conv = layer_of(config)(config.filters, config.policy_filters, 1)
        self.policy_out = nn.Linear(config.policy_filters * board[0] * board[1], actions)

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to logits [N,A], for each board."""
        return each(lambda x: self.policy_out(functional.relu(x).flatten(1)), self.policy_conv(x))


class PooledPolicy(nn.Module):
    """Logits for each point, with a bias from the whole board, and optionally one for the pass."""

    def __init__(self, config: NetworkConfig, actions: PointActions) -> None:
        super().__init__()
        width = config.policy_filters
        self.policy_conv = layer_of(config)(config.filters, width, 1)
        self.policy_pooled = layer_of(config)(config.filters, width, 1)
        self.policy_bias = nn.Linear(3 * width, width)
        self.policy_out = nn.Conv2d(width, actions.per_point, 1)
        self.pass_out = nn.Linear(3 * width, 1) if actions.has_pass else None

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to logits [N,H*W*K(+1)] with K = per_point, for each board."""
        return each(self._logits, self.policy_pooled(x), self.policy_conv(x))

    def _logits(self, seen: Tensor, points: Tensor) -> Tensor:
        board = pooled(functional.relu(seen))
        bias = self.policy_bias(board)[:, :, None, None]
        policy = self.policy_out(functional.relu(points + bias))
        policy = policy.permute(0, 2, 3, 1).flatten(1)  # all logits of a point, then the next
        return policy if self.pass_out is None else torch.cat([policy, self.pass_out(board)], dim=1)


class ZeroPolicy(nn.Module):
    """Logits of 0, for a network that only evaluates."""

    def __init__(self, actions: PointActions) -> None:
        super().__init__()
        self.actions = actions

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to zeros [N,H*W*K(+1)] with K = per_point, for each board."""
        per_point, has_pass = self.actions
        return each(lambda x: x.new_zeros(len(x), x.shape[2:].numel() * per_point + has_pass), x)


class ValueHead(nn.Module):
    """A 1x1 convolution, a hidden layer and the outputs, before their non-linearity.

    ``flat``: the hidden layer is connected to all points [AlphaGo Zero], so there is one board
    size; otherwise to features pooled over the board.
    """

    def __init__(self, config: NetworkConfig, board: tuple[int, int], outputs: int) -> None:
        super().__init__()
        self.flat = config.kind == "alphago_zero"
        inputs = config.value_filters * (board[0] * board[1] if self.flat else 3)
        self.value_conv = layer_of(config)(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(inputs, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, outputs)

    def forward(self, x: Features) -> Any:
        """Map [N,F,H,W] to [N,outputs], for each board."""
        return each(self._value, self.value_conv(x))

    def _value(self, x: Tensor) -> Tensor:
        x = functional.relu(x)
        x = x.flatten(1) if self.flat else pooled(x)
        return self.value_out(functional.relu(self.value_hidden(x)))


def _policy_head(
    config: NetworkConfig, board: tuple[int, int], actions: int
) -> FlatPolicy | PooledPolicy:
    if config.kind == "alphago_zero":
        return FlatPolicy(config, board, actions)
    return PooledPolicy(config, _of_points(board, actions))


def _of_points(board: tuple[int, int], actions: int) -> PointActions:
    divided = point_actions(board, actions)
    assert divided is not None, "Network refuses other games"
    return divided


class Heads(nn.Module):
    """The policy head and the value head, randomly initialised for a board.

    Their layers are registered here, so that checkpoints name them ``heads.policy_conv`` and so on.
    """

    def __init__(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        super().__init__()
        policy: nn.Module
        if config.kind == "value":
            policy = ZeroPolicy(_of_points(board, actions))
        else:
            policy = _policy_head(config, board, actions)
        value = ValueHead(config, board, 3 if config.value == "wdl" else 1)
        self.parts = (policy, value)
        for part in self.parts:
            for name, layer in part.named_children():
                self.add_module(name, layer)

    def forward(self, x: Features) -> tuple[Any, Any]:
        """Return policy logits [N,A] and the value [N,1 or 3] before its non-linearity."""
        policy, value = self.parts
        return policy(x), value(x)


class AuxiliaryHeads(nn.Module):
    """Auxiliary heads for training, one for each target with a weight in the loss.

    They are built like the main heads; the ownership's is a 1x1 convolution. Evaluation ignores
    them, and export drops all except ownership and score, which are optional. The reply, the
    ownership and the score are those of Wu 2019, "Accelerating self-play learning in Go", sections
    3.4 and 4.1; values a few plies later are from KataGoMethods.md, "Short-term Value and Score
    Targets".
    """

    def __init__(
        self, config: NetworkConfig, board: tuple[int, int], actions: int, loss: LossConfig
    ) -> None:
        super().__init__()
        self.reply: nn.Module | None = None
        self.values: nn.Module | None = None
        self.ownership: nn.Module | None = None
        self.score: nn.Module | None = None
        # The order matters: adding a head does not change the random weights of earlier ones.
        if loss.reply_weight > 0:
            self.reply = _policy_head(config, board, actions)
        if loss.target_horizons:
            self.values = ValueHead(config, board, len(loss.target_horizons))
        if loss.ownership_weight > 0:
            self.ownership = nn.Sequential(OrderedDict(out=nn.Conv2d(config.filters, 1, 1)))
        if loss.score_weight > 0:
            self.score = ValueHead(config, board, 1)

    def forward(self, x: Features) -> Any:
        """Return the outputs by name, for each board, for the player to move.

        ``reply`` [N,A], logits of the opponent's next move; ``short_values`` [N,K] in [-1, 1], one
        per horizon; ``ownership`` [N,H,W] before tanh; ``score`` [N] in points.
        """
        outputs: dict[str, Any] = {}
        if self.reply is not None:
            outputs["reply"] = self.reply(x)
        if self.values is not None:
            outputs["short_values"] = each(torch.tanh, self.values(x))
        if self.ownership is not None:
            outputs["ownership"] = each(lambda x: x[:, 0], each(self.ownership, x))
        if self.score is not None:
            outputs["score"] = each(lambda score: score[:, 0] * SCORE_SCALE, self.score(x))
        if isinstance(x, Tensor):
            return outputs
        return [{name: parts[i] for name, parts in outputs.items()} for i in range(len(x))]

    def final_board(self, x: Tensor) -> dict[str, Tensor]:
        """Return ``ownership`` [N,H,W] in [-1, 1] and ``score`` [N] in points, if learned."""
        outputs = self(x)
        board = {name: outputs[name] for name in ("ownership", "score") if name in outputs}
        if "ownership" in board:
            board["ownership"] = torch.tanh(board["ownership"])
        return board
