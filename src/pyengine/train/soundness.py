"""Checks that training can continue: finite losses, weights and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.errors import DataError
from pyengine.train import checkpoint
from pyengine.train.blocks import Features
from pyengine.train.configs import OptimiserConfig, learning_rate
from pyengine.train.errors import TrainingError
from pyengine.train.log import RunningLosses
from pyengine.train.network import Network
from pyengine.train.protocol import TrainingData


def require_finite(
    losses: RunningLosses,
    step: int,
    optimiser: OptimiserConfig,
    data: Sequence[TrainingData],
    directory: Path,
) -> None:
    """Raise TrainingError if a step's loss is not finite, with what is wrong with the data.

    Args:
        losses: of the last steps; reading them waits for the device.
        step: the number of steps so far.
        optimiser: has the learning rates.
        data: from which the steps were sampled.
        directory: of the checkpoints.

    """
    bad = losses.first_not_finite()
    if bad is None:
        return
    number, values = bad
    step -= len(losses) - number
    raise TrainingError(
        f"step {step}: expected a finite loss, got policy {values['policy']:g} and "
        f"value {values['value']:g} at a learning rate of {learning_rate(optimiser, step):g}; "
        f"{_newest_checkpoint(directory)}{_damage(data)}"
    )


def require_sound(
    state: Mapping[str, Any],
    network: Network,
    planes: Features | None,
    rate: float,
    directory: Path,
) -> None:
    """Raise TrainingError if training cannot continue from a state.

    Args:
        state: of a checkpoint.
        network: with the same weights.
        planes: of the last step's positions; None before the first step.
        rate: the learning rate of the last step.
        directory: of the checkpoints.

    """
    bad = checkpoint.not_finite(state)
    if bad is None and planes is not None and not _evaluates(network, planes):
        bad = "an output of the network for the last step's positions"
    if bad is not None:
        raise TrainingError(
            f"step {state['step']} is not written: {bad} is not finite after a learning rate of "
            f"{rate:g}; {_newest_checkpoint(directory)}"
        )


def _evaluates(network: Network, planes: Features) -> bool:
    """Whether the network's outputs are finite; its statistics do not change.

    Finite but huge weights overflow here.
    """
    statistics = {name: buffer.clone() for name, buffer in network.named_buffers()}
    with torch.no_grad():
        outputs = torch.func.functional_call(network, statistics, (planes,))
    return checkpoint.not_finite(outputs) is None


def _damage(data: Sequence[TrainingData]) -> str:
    """Verify the data; return a note for an error message, or ""."""
    verified = [source for source in data if hasattr(source, "verify")]
    try:
        for source in verified:
            source.verify(on_progress=lambda *_: None)
    except DataError as error:
        return f"; {error}"
    return "; no shard of the data is damaged" if verified else ""


def _newest_checkpoint(directory: Path) -> str:
    """Return a note on the newest checkpoint for an error message."""
    newest = checkpoint.newest(directory)
    return f"the newest checkpoint is {newest}" if newest else "there is no checkpoint yet"
