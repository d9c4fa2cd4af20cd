"""The network and its training, in PyTorch on the CPU."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from positions import Shard, batches
from torch import Tensor, nn
from torch.nn import functional

BATCH = 256
LEARNING_RATE = 2e-3  # peak; AdamW, warmed up, then a cosine down to nothing
WARM_UP = 0.02  # of the training
WEIGHT_DECAY = 1e-3
VALUE_CHANNELS = 4
VALUE_HIDDEN = 64
CHECKPOINT_SECONDS = 60


def _conv(inputs: int, outputs: int, size: int = 3) -> nn.Sequential:
    """A convolution that keeps the board's shape, then batch normalisation."""
    conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """A residual block: ``relu(x + second(relu(first(x))))``."""

    def __init__(self, channels: int) -> None:
        """Make one."""
        super().__init__()
        self.first = _conv(channels, channels)
        self.second = _conv(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """[N,F,H,W] to the same."""
        return functional.relu(x + self.second(functional.relu(self.first(x))))


class Network(nn.Module):
    """A small residual network: planes [N,C,H,W] to policy logits [N,A] and value [N,1].

    With an action for each point the policy is one more convolution; with an action for each
    column it is a linear layer on the whole board.
    """

    def __init__(
        self, planes: int, board: tuple[int, int], actions: int, blocks: int, channels: int
    ) -> None:
        """Make one with random weights."""
        super().__init__()
        height, width = board
        self.planes, self.board = planes, board
        self.stem = _conv(planes, channels)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        per_point = actions == height * width
        self.policy_conv = _conv(channels, 16 if per_point else 8, 1)
        self.policy_out: nn.Module = (
            nn.Conv2d(16, 1, 1) if per_point else nn.Linear(8 * height * width, actions)
        )
        self.value_conv = _conv(channels, VALUE_CHANNELS, 1)
        self.value_hidden = nn.Linear(VALUE_CHANNELS * height * width, VALUE_HIDDEN)
        self.value_out = nn.Linear(VALUE_HIDDEN, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [N,A] and the value in [-1, 1] for the mover [N,1]."""
        x = functional.relu(self.stem(planes))
        for block in self.blocks:
            x = block(x)
        moves = functional.relu(self.policy_conv(x))
        if isinstance(self.policy_out, nn.Linear):
            moves = moves.flatten(1)
        judged = functional.relu(self.value_conv(x)).flatten(1)
        judged = functional.relu(self.value_hidden(judged))
        return self.policy_out(moves).flatten(1), torch.tanh(self.value_out(judged))


def losses(network: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Return the cross entropy to the visits and the squared error of the value."""
    planes, policy, value = batch
    logits, judged = network(planes)
    # KL divergence: the cross entropy less the targets' own entropy, so that 0 is perfect.
    return (
        functional.kl_div(functional.log_softmax(logits, 1), policy, reduction="batchmean"),
        functional.mse_loss(judged[:, 0], value),
    )


def train(
    network: Network,
    data: Shard,
    *,
    epochs: float,
    minutes: float,
    seed: int,
    checkpoint: Path,
    say: Callable[[str], None],
) -> tuple[float, float]:
    """Train in place, at most so many minutes; return epochs done and seconds spent.

    The learning rate follows whichever of the two budgets is further on. Goes on from
    ``checkpoint`` if that exists: the order of the data depends on the seed alone.
    """
    steps = int(len(data["policy"]) * epochs) // BATCH
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=WEIGHT_DECAY)
    done, spent = _restore(checkpoint, network, optimizer)
    start = saved = time.monotonic()
    network.train()
    sums = np.zeros(2)
    for step, arrays in enumerate(batches(data, BATCH, epochs, np.random.default_rng(seed))):
        if step < done:
            continue
        now = time.monotonic()
        progress = progress_of(step / steps, (now - start + spent) / (60 * minutes))
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(progress)
        policy, value = losses(network, tuple(torch.from_numpy(array) for array in arrays))
        optimizer.zero_grad()
        (policy + value).backward()
        optimizer.step()
        done = step + 1
        sums += policy.item(), value.item()
        if done % 100 == 0:
            say(f"\r  step {done}/{steps}: policy {sums[0] / 100:.4f}, value {sums[1] / 100:.4f} ")
            sums[:] = 0
        if now - saved > CHECKPOINT_SECONDS:
            _save(checkpoint, network, optimizer, done, now - start + spent)
            saved = now
    spent += time.monotonic() - start
    _save(checkpoint, network, optimizer, done, spent)
    say("\n")
    network.eval()
    return done * BATCH / len(data["policy"]), spent


def progress_of(steps: float, time_: float) -> float:
    """Return the share of the work that is done, by steps, or by time where that runs out.

    A run that has time enough must not depend on the clock: it is the same every time.
    """
    return time_ if time_ > steps + 0.05 else steps


def learning_rate(progress: float) -> float:
    """Return the rate at a progress of 0 to 1."""
    warm = min(progress / WARM_UP, 1.0)
    return LEARNING_RATE * max(warm, 0.01) * 0.5 * (1 + math.cos(math.pi * progress))


def _save(
    path: Path, network: Network, optimizer: torch.optim.Optimizer, done: int, spent: float
) -> None:
    part = path.with_suffix(".part")
    torch.save(
        {
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "done": done,
            "spent": spent,
        },
        part,
    )
    part.replace(path)


def _restore(path: Path, network: Network, optimizer: torch.optim.Optimizer) -> tuple[int, float]:
    """Return steps done and seconds spent so far."""
    if not path.exists():
        return 0, 0.0
    state = torch.load(path, weights_only=True)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    return state["done"], state["spent"]
