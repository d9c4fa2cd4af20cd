"""Training of the policy and the value network on recorded positions."""

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
    """Train a network on shards, or resume training, and export it.

    Args:
        run: the run.
        data: directory of shards.
        name: name of the network: checkpoints go to the folder NAME, weights to NAME.pt, the
            ONNX file to NAME.onnx.
        kind: kind of the network, see NetworkConfig.
        steps: number of training steps.
        value_weight: weight of the value loss.

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
