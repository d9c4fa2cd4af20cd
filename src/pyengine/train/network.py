"""The networks: AlphaGo Zero's, and a fully convolutional one for any board size."""

from __future__ import annotations

from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253

from pyengine.errors import ConfigError
from pyengine.train.blocks import Features, each, layer_of
from pyengine.train.configs import LossConfig, NetworkConfig, TrainConfig
from pyengine.train.heads import AuxiliaryHeads, Heads
from pyengine.train.point_actions import point_actions
from pyengine.train.towers import tower_of


class Network(nn.Module):
    """A residual tower with two heads, and optional auxiliary heads for training.

    The weights are random, from PyTorch's generator.

    Args:
        config: its size and heads.
        planes: C, the number of input planes.
        board: H and W; a convolutional network supports other sizes too.
        actions: A, the number of actions on that board.
        loss: its targets determine the auxiliary heads; None: there are none.

    Raises:
        ConfigError: a convolutional network for a game without as many actions for each point.
    """

    def __init__(
        self,
        config: NetworkConfig,
        planes: int,
        board: tuple[int, int],
        actions: int,
        loss: LossConfig | None = None,
    ) -> None:
        super().__init__()
        self.config, self.planes, self.board, self.actions = config, planes, board, actions
        self.half = False  #: while training: the tower uses bfloat16, the heads float32
        height, width = board
        if config.kind != "alphago_zero" and point_actions(board, actions) is None:
            raise ConfigError(
                f'network.kind: "{config.kind}" needs the same number of actions for each of the '
                f"{height}x{width} points and at most a pass, got {actions} actions; "
                '"alphago_zero" supports any number'
            )
        self.stem = layer_of(config)(planes, config.filters, 3)
        self.tower = tower_of(config)
        self.heads = Heads(config, board, actions)
        self.auxiliary: AuxiliaryHeads | None = None
        if loss is not None and loss.auxiliary:  # last: the other weights do not depend on them
            self.auxiliary = AuxiliaryHeads(config, board, actions, loss)

    def forward(self, planes: Features) -> Any:
        """Evaluate positions for the player to move.

        Args:
            planes: float32 [N,C,H,W]; or a list of such tensors, one per board size, normalised as
                one batch.

        Returns:
            Policy logits [N,A], and the value [N,1] in [-1, 1] or logits [N,3] of win, draw, loss;
            during training also the outputs of auxiliary heads by name. For a list, a list of such
            tuples.

        """
        x = self._features(planes)
        policy, value = self.heads(x)
        if self.config.value == "scalar":
            value = each(torch.tanh, value)
        if self.auxiliary is None or not self.training:
            return each(lambda *outputs: outputs, policy, value)
        return each(lambda *outputs: outputs, policy, value, self.auxiliary(x))

    def final_board(self, planes: Tensor) -> dict[str, Tensor]:
        """Predict the final board from planes float32 [N,C,H,W].

        ``ownership`` [N,H,W] in [-1, 1], ``score`` [N] in points, both for the player to move.
        """
        return {} if self.auxiliary is None else self.auxiliary.final_board(self._features(planes))

    def _features(self, planes: Features) -> Any:
        half = self.half and self.training
        device = planes.device if isinstance(planes, Tensor) else planes[0].device
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            x = self.tower(self.stem(planes))
        return each(Tensor.float, x)


def new_network(config: TrainConfig, planes: int, board: tuple[int, int], actions: int) -> Network:
    """Return the initial network, whose weights are determined by the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.learner.seed)
        return Network(config.network, planes, board, actions, config.loss)
