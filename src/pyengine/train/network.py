"""The networks: AlphaGo Zero's, and a fully convolutional one for boards of any size."""

from __future__ import annotations

from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.arguments import check_type, elements, found, in_one_line
from pyengine.errors import ConfigError
from pyengine.integers import integer
from pyengine.train.blocks import Block, pooled
from pyengine.train.boards import ConvNorm, Features, each
from pyengine.train.configs import NetworkConfig, TrainConfig

__all__ = [
    "ConvolutionalHeads",
    "Network",
    "PublishedHeads",
    "ValueHead",
    "new_network",
    "parameters_of",
]

_MOST = 1 << 16  # planes, points of a side, actions


class PublishedHeads(nn.Module):
    """AlphaGo Zero's heads, for one board: [N,F,H,W] to policy logits [N,A] and value [N,1 or 3].

    Policy: 1x1 convolution of 2 filters, fully connected. Value: 1x1 convolution of 1 filter,
    256 hidden units, one output. Both convolutions with batch normalisation and ReLU.
    """

    def __init__(self, config: NetworkConfig, board: tuple[int, int], actions: int) -> None:
        """Make them with random weights."""
        super().__init__()
        points = board[0] * board[1]
        self.policy_conv = ConvNorm(config.filters, config.policy_filters, 1)
        self.policy_out = nn.Linear(config.policy_filters * points, actions)
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(config.value_filters * points, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, 3 if config.value == "wdl" else 1)

    def forward(self, x: Features) -> Any:
        """Return policy logits and the value before its last non-linearity."""
        return each(self._evaluated, self.policy_conv(x), self.value_conv(x))

    def _evaluated(self, policy: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        policy = functional.relu(policy).flatten(1)
        value = functional.relu(value).flatten(1)
        value = functional.relu(self.value_hidden(value))
        return self.policy_out(policy), self.value_out(value)


class ConvolutionalHeads(nn.Module):
    """Heads of 1x1 convolutions and global pooling, for boards of any size [idea: KataGo].

    An action for each point, then perhaps a pass: [N,F,H,W] to policy logits [N,H*W(+1)] and value
    [N,1 or 3]. Pooled over the board: the mean, the mean times :func:`board_scale`, the maximum.
    """

    def __init__(self, config: NetworkConfig, has_pass: bool) -> None:
        """Make them with random weights."""
        super().__init__()
        width = config.policy_filters
        self.policy_conv = ConvNorm(config.filters, width, 1)
        self.policy_pooled = ConvNorm(config.filters, width, 1)
        self.policy_bias = nn.Linear(3 * width, width)
        self.policy_out = nn.Conv2d(width, 1, 1)
        self.pass_out = nn.Linear(3 * width, 1) if has_pass else None
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(3 * config.value_filters, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, 3 if config.value == "wdl" else 1)

    def forward(self, x: Features) -> Any:
        """Return policy logits and the value before its last non-linearity, of each board."""
        seen, points = self.policy_pooled(x), self.policy_conv(x)
        return each(self._evaluated, seen, points, self.value_conv(x))

    def _evaluated(self, seen: Tensor, points: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        board = pooled(functional.relu(seen))
        bias = self.policy_bias(board)[:, :, None, None]
        policy = self.policy_out(functional.relu(points + bias)).flatten(1)
        if self.pass_out is not None:
            policy = torch.cat([policy, self.pass_out(board)], dim=1)
        value = functional.relu(self.value_hidden(pooled(functional.relu(value))))
        return policy, self.value_out(value)


class ValueHead(nn.Module):
    """The value head of :class:`ConvolutionalHeads` alone; all policy logits are 0."""

    def __init__(self, config: NetworkConfig, has_pass: bool) -> None:
        """Make it with random weights."""
        super().__init__()
        self.has_pass = has_pass
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(3 * config.value_filters, config.value_hidden)
        self.value_out = nn.Linear(config.value_hidden, 3 if config.value == "wdl" else 1)

    def forward(self, x: Features) -> Any:
        """Return zeros [N,A] and the value before its last non-linearity, of each board."""
        return each(self._evaluated, self.value_conv(x))

    def _evaluated(self, x: Tensor) -> tuple[Tensor, Tensor]:
        value = functional.relu(self.value_hidden(pooled(functional.relu(x))))
        actions = x.shape[2] * x.shape[3] + int(self.has_pass)
        return x.new_zeros(len(x), actions), self.value_out(value)


class Network(nn.Module):
    """A residual tower and two heads.

    Args:
        config: its size and heads.
        planes: C, how many input planes.
        board: H and W; a convolutional network takes others as well.
        actions: A, of that board.

    Raises:
        ConfigError: a convolutional network for a game without an action for each point; a size
            that memory has no room for.
    """

    def __init__(
        self, config: NetworkConfig, planes: int, board: tuple[int, int], actions: int
    ) -> None:
        """Random weights come from PyTorch's generator."""
        super().__init__()
        check_type("config", config, NetworkConfig, "a NetworkConfig")
        planes, actions = integer("planes", planes, 1, _MOST), integer("actions", actions, 1, _MOST)
        sides = elements("board", board, "two ints, H and W")
        if len(sides) != 2:
            raise ConfigError(f"board: expected two ints, H and W, found {found(board)}")
        board = integer("board", sides[0], 1, _MOST), integer("board", sides[1], 1, _MOST)
        self.config, self.planes, self.board, self.actions = config, planes, board, actions
        self.half = False  #: while training, the tower computes in bfloat16, the heads in float32
        try:
            self._make_layers()
        except (MemoryError, RuntimeError) as error:  # PyTorch raises the second
            raise ConfigError(
                f"network: expected one that memory has room for, found {config.blocks} blocks of "
                f"{config.filters} filters for {planes} planes of {board[0]}x{board[1]}: "
                f"{in_one_line(str(error))}"
            ) from error

    def _make_layers(self) -> None:
        """Make tower and heads with random weights."""
        config, (height, width), actions = self.config, self.board, self.actions
        self.stem = ConvNorm(self.planes, config.filters, 3)
        self.blocks = nn.ModuleList(self._block(number) for number in range(config.blocks))
        self.heads: nn.Module
        if config.kind == "alphago_zero":
            self.heads = PublishedHeads(config, self.board, actions)
        elif actions - height * width in (0, 1):
            heads = ValueHead if config.kind == "value" else ConvolutionalHeads
            self.heads = heads(config, has_pass=actions > height * width)
        else:
            raise ConfigError(
                f'network.kind: "{config.kind}" needs an action for each of the '
                f"{height}x{width} points and at most a pass, found {actions} actions"
            )

    def _block(self, number: int) -> Block:
        config, every = self.config, self.config.pooling_every
        pooling = every > 0 and (number + 1) % every == 0
        return Block(config.filters, pooling=pooling, excitation=config.squeeze_excitation)

    def forward(self, planes: Features) -> Any:
        """Evaluate positions for the player to move.

        Args:
            planes: float32 [N,C,H,W]; or a list of such tensors, of a board each, which are one
                batch to the normalisation.

        Returns:
            Policy logits [N,A], and the value [N,1] in [-1, 1] or logits [N,3] of win, draw, loss.
            Of a list a list of such pairs.

        """
        half = self.half and self.training
        device = planes.device if isinstance(planes, Tensor) else planes[0].device
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            x = each(functional.relu, self.stem(planes))
            for block in self.blocks:
                x = block(x)
        outputs = self.heads(each(Tensor.float, x))
        return (
            self._bounded(*outputs)
            if isinstance(x, Tensor)
            else [self._bounded(*pair) for pair in outputs]
        )

    def _bounded(self, policy: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return policy, torch.tanh(value) if self.config.value == "scalar" else value


def new_network(config: TrainConfig, planes: int, board: tuple[int, int], actions: int) -> Network:
    """Return the network with which a training begins: its weights are a function of the seed.

    Args: see :class:`Network`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.learner.seed)
        return Network(config.network, planes, board, actions)


def parameters_of(network: nn.Module) -> int:
    """Return how many numbers the network learns."""
    return sum(parameter.numel() for parameter in network.parameters())
