"""Stages that learn by gradient from recorded positions: the policy and the value network."""

from __future__ import annotations

from pathlib import Path

import torch

import pyengine
from alphago.folder import Run
from pyengine.train import (
    Learner,
    LearnerConfig,
    LossConfig,
    OptimiserConfig,
    StepReport,
    TrainConfig,
    export,
)

__all__ = ["learn"]

_LOG_STEPS = 20


def learn(run: Run, data: Path, name: str, kind: str, steps: int, value_weight: float) -> None:
    """Train a network from shards and export it; goes on where it was stopped.

    Args:
        run: whose settings count.
        data: directory of shards.
        name: of the network; its checkpoints lie in the folder NAME, its weights in NAME.pt, its
            ONNX in NAME.onnx.
        kind: of its heads; see NetworkConfig.
        steps: how many.
        value_weight: of the value's loss.

    """
    settings = run.settings
    config = TrainConfig(
        network=settings.network(kind),
        loss=LossConfig(value_weight=value_weight),
        optimiser=OptimiserConfig(
            kind="adamw",
            schedule="cosine",
            learning_rate=settings.learning_rate,
            total_steps=steps,
            warm_up=min(200, steps // 10),
            clip_norm=5.0,
        ),
        learner=LearnerConfig(
            batch_size=settings.batch_size,
            seed=settings.seed,
            threads=run.threads,
            log_steps=min(_LOG_STEPS, steps),
        ),
    )

    def show(report: StepReport) -> None:
        run.say(
            f"{name}: step {report.step:,} of {steps:,}, policy loss {report.policy:.3f}, "
            f"value loss {report.value:.3f}"
        )

    positions = pyengine.Dataset(data)
    with Learner(config, positions, run.path(name), resume=True, on_progress=show) as learner:
        learner.train(steps - learner.step)
        network = learner.exported
        torch.save(network.state_dict(), run.path(f"{name}.pt"))
        export(network, run.game, settings.spec, run.path(f"{name}.onnx"))
