"""The networks: AlphaGo Zero's, and a fully convolutional one for boards of any size."""

from __future__ import annotations

from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed
from torch import Tensor, nn  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from pyengine.base.arguments import check_flag, check_type, elements, found, in_one_line
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.train.blocks import Block
from pyengine.train.boards import ConvNorm, Features, each
from pyengine.train.configs import NetworkConfig, TrainConfig
from pyengine.train.heads import AuxiliaryHeads, heads_of

__all__ = ["Network", "new_network", "parameters_of"]

_MOST = 1 << 16  # planes, points of a side, actions


class Network(nn.Module):
    """A residual tower and two heads, and perhaps others that are there for the training alone.

    Args:
        config: its size and heads.
        planes: C, how many input planes.
        board: H and W; a convolutional network takes others as well.
        actions: A, of that board.
        reply, horizons, ownership, score: which :class:`~pyengine.train.heads.AuxiliaryHeads` it
            has besides.

    Raises:
        ConfigError: a convolutional network for a game without an action for each point; a size
            that memory has no room for.
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
        """Random weights come from PyTorch's generator."""
        super().__init__()
        check_type("config", config, NetworkConfig, "a NetworkConfig")
        planes, actions = integer("planes", planes, 1, _MOST), integer("actions", actions, 1, _MOST)
        sides = elements("board", board, "two ints, H and W")
        if len(sides) != 2:
            raise ConfigError(f"board: expected two ints, H and W, found {found(board)}")
        board = integer("board", sides[0], 1, _MOST), integer("board", sides[1], 1, _MOST)
        self.config, self.planes, self.board, self.actions = config, planes, board, actions
        for name, flag in (("reply", reply), ("ownership", ownership), ("score", score)):
            check_flag(name, flag)
        count = integer("horizons", horizons, 0, _MOST)
        self._wanted: dict[str, Any] = {"reply": reply, "horizons": count}
        self._wanted |= {"ownership": ownership, "score": score}
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
        if config.kind != "alphago_zero" and actions - height * width not in (0, 1):
            raise ConfigError(
                f'network.kind: "{config.kind}" needs an action for each of the '
                f"{height}x{width} points and at most a pass, found {actions} actions"
            )
        self.heads = heads_of(config, self.board, actions)
        self.auxiliary: AuxiliaryHeads | None = None
        if any(self._wanted.values()):  # after all others, whose random weights stay the same
            self.auxiliary = AuxiliaryHeads(config, self.board, actions, **self._wanted)

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
            Policy logits [N,A], and the value [N,1] in [-1, 1] or logits [N,3] of win, draw, loss;
            while training also what the auxiliary heads say, by name, where there are some. Of a
            list a list of such tuples.

        """
        x = self._tower(planes)
        outputs, others = self.heads(x), self._others(x)
        if isinstance(x, Tensor):
            return (*self._bounded(*outputs), *others)
        return [(*self._bounded(*pair), *more) for pair, more in zip(outputs, others, strict=True)]

    def final_board(self, planes: Tensor) -> dict[str, Tensor]:
        """Return what is learnt of the last board, of planes float32 [N,C,H,W], by name.

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
        """What is said besides, as a tuple; of a list a list of tuples."""
        if self.auxiliary is None or not self.training:
            return () if isinstance(x, Tensor) else [()] * len(x)
        said = self.auxiliary(x)
        return (said,) if isinstance(x, Tensor) else [(one,) for one in said]

    def _bounded(self, policy: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return policy, torch.tanh(value) if self.config.value == "scalar" else value


def new_network(config: TrainConfig, planes: int, board: tuple[int, int], actions: int) -> Network:
    """Return the network with which a training begins: its weights are a function of the seed.

    Args: see :class:`Network`.
    """
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
    """Return how many numbers the network learns."""
    return sum(parameter.numel() for parameter in network.parameters())
