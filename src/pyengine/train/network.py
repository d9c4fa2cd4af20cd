"""The networks: AlphaGo Zero's, and a fully convolutional one for any board size."""

from __future__ import annotations

from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.errors import ConfigError
from pyengine.train.blocks import Block, ConvNorm, Features, each
from pyengine.train.configs import NetworkConfig, TrainConfig
from pyengine.train.heads import AuxiliaryHeads, heads_of


class Network(nn.Module):
    """A residual tower with two heads, and optional auxiliary heads for training.

    Args:
        config: its size and heads.
        planes: C, the number of input planes.
        board: H and W; a convolutional network supports other sizes too.
        actions: A, the number of actions on that board.
        reply, horizons, ownership, score: the enabled
            :class:`~pyengine.train.heads.AuxiliaryHeads`.

    The weights are random, from PyTorch's generator.

    Raises:
        ConfigError: a convolutional network for a game without an action for each point.
    """

    def __init__(
        self,
        config: NetworkConfig,
        planes: int,
        board: tuple[int, int],
        actions: int,
        *,
        reply: bool = False,
        horizons: int = 0,
        ownership: bool = False,
        score: bool = False,
    ) -> None:
        super().__init__()
        self.config, self.planes, self.board, self.actions = config, planes, board, actions
        self.half = False  #: while training: the tower uses bfloat16, the heads float32
        height, width = board
        if config.kind != "alphago_zero" and actions - height * width not in (0, 1):
            raise ConfigError(
                f'network.kind: "{config.kind}" needs an action for each of the '
                f"{height}x{width} points and at most a pass, got {actions} actions"
            )
        self.stem = ConvNorm(planes, config.filters, 3)
        self.blocks = nn.ModuleList(self._block(number) for number in range(config.blocks))
        self.heads = heads_of(config, board, actions)
        self.auxiliary: AuxiliaryHeads | None = None
        if reply or horizons or ownership or score:  # last, so that the other weights do not change
            self.auxiliary = AuxiliaryHeads(
                config,
                board,
                actions,
                reply=reply,
                horizons=horizons,
                ownership=ownership,
                score=score,
            )

    def _block(self, number: int) -> Block:
        config, every = self.config, self.config.pooling_every
        pooling = every > 0 and (number + 1) % every == 0
        return Block(config.filters, pooling=pooling, excitation=config.squeeze_excitation)

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
        x = self._tower(planes)
        outputs, others = self.heads(x), self._others(x)
        if isinstance(x, Tensor):
            return (*self._bounded(*outputs), *others)
        return [(*self._bounded(*pair), *more) for pair, more in zip(outputs, others, strict=True)]

    def final_board(self, planes: Tensor) -> dict[str, Tensor]:
        """Predict the final board from planes float32 [N,C,H,W].

        ``ownership`` [N,H,W] in [-1, 1], ``score`` [N] in points, both for the player to move.
        """
        return {} if self.auxiliary is None else self.auxiliary.final_board(self._tower(planes))

    def _tower(self, planes: Features) -> Any:
        half = self.half and self.training
        device = planes.device if isinstance(planes, Tensor) else planes[0].device
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            x = each(functional.relu, self.stem(planes))
            for block in self.blocks:
                x = block(x)
        return each(Tensor.float, x)

    def _others(self, x: Features) -> Any:
        """Return the auxiliary outputs as a tuple; for a list, a list of tuples."""
        if self.auxiliary is None or not self.training:
            return () if isinstance(x, Tensor) else [()] * len(x)
        outputs = self.auxiliary(x)
        return (outputs,) if isinstance(x, Tensor) else [(board,) for board in outputs]

    def _bounded(self, policy: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return policy, torch.tanh(value) if self.config.value == "scalar" else value


def new_network(config: TrainConfig, planes: int, board: tuple[int, int], actions: int) -> Network:
    """Return the initial network, whose weights are determined by the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.learner.seed)
        loss = config.loss
        return Network(
            config.network,
            planes,
            board,
            actions,
            reply=loss.reply_weight > 0,
            horizons=len(loss.target_horizons),
            ownership=loss.ownership_weight > 0,
            score=loss.score_weight > 0,
        )


def parameters_of(network: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(parameter.numel() for parameter in network.parameters())
