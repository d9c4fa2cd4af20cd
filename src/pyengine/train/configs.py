"""The settings of network, loss, optimiser and learner, and the learning rate schedules.

This module does not import PyTorch.
"""

from __future__ import annotations

import bisect
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator  # noqa: TID253

from pyengine.base.checks import integer
from pyengine.train.settings import (
    MOST_SEED,
    Number,
    PositiveInts,
    PositiveNumbers,
    Section,
)

_MOST_WIDTH = 1 << 16  # larger values would not fit into memory


class NetworkConfig(Section):
    """A residual network: a tower of blocks and two heads.

    ``kind="alphago_zero"`` has the published heads with fully connected layers, for one board size;
    ``"convolutional"`` has heads of 1x1 convolutions and global pooling, for any board size and
    games with the same number K of actions for each point, numbered ``point * K + d``, and at most
    a pass; ``"value"`` is the latter with only a value: all policy logits are 0, so priors are
    uniform.
    """

    section: ClassVar[str] = "network"

    kind: Literal["alphago_zero", "convolutional", "value"] = "alphago_zero"
    """The heads of the network."""
    blocks: int = Field(default=4, ge=0, le=10_000)
    """Residual blocks; AlphaGo Zero: 19 or 39."""
    filters: int = Field(default=64, ge=1, le=_MOST_WIDTH)
    """Filters of each convolution in the tower; AlphaGo Zero: 256."""
    pooling_every: int = Field(default=0, ge=0)
    """Add global pooling, a bias per channel, to every n-th block [KataGo]; 0 = never."""
    squeeze_excitation: int = Field(default=0, ge=0, le=_MOST_WIDTH)
    """Hidden units of squeeze and excitation in each block [Lc0]; 0 = none."""
    inner_blocks: int = Field(default=0, ge=0, le=100)
    """Residual blocks at half the filters inside each block, between 1x1 convolutions [KataGo's
    nested bottleneck: 2]; they then have the pooling and the excitation. 0 = plain blocks."""
    normalisation: Literal["batch", "once", "none"] = "batch"
    """Batch normalisation after each convolution; or only once, at the end of the tower, and fixed
    scales elsewhere [KataGo]; or only fixed scales."""
    value: Literal["scalar", "wdl"] = "scalar"
    """One value in [-1, 1] (tanh), or logits of win, draw and loss."""
    policy_filters: int = Field(default=2, ge=1, le=_MOST_WIDTH)
    """Filters of the policy head's 1x1 convolution [AlphaGo Zero]. Run files of other kinds use
    16 by default."""
    value_filters: int = Field(default=1, ge=1, le=_MOST_WIDTH)
    """Filters of the value head's 1x1 convolution [AlphaGo Zero]; 16 for other kinds."""
    value_hidden: int = Field(default=256, ge=1, le=_MOST_WIDTH)
    """Units of the value head's hidden layer [AlphaGo Zero]; 64 for other kinds."""

    @model_validator(mode="after")
    def _check_pooling(self) -> NetworkConfig:
        if self.pooling_every > self.blocks:
            self.refuse("pooling_every", f"at most the {self.blocks} blocks", self.pooling_every)
        return self

    @classmethod
    def convolutional(cls, **settings: Any) -> NetworkConfig:
        """Return settings for any board size, by default with wider heads.

        With ``kind="value"``, for a network without a policy.
        """
        heads = {"policy_filters": 16, "value_filters": 16, "value_hidden": 64}
        return cls(**{"kind": "convolutional", **heads, **settings})


class LossConfig(Section):
    """``value_weight (z - v)² - πᵀ log p + c‖θ‖²`` [AlphaGo Zero]; for WDL a cross entropy.

    ``c`` is the optimiser's ``weight_decay``. A positive weight of another target adds a head that
    is used only for training; those of ownership and score are exported if a run has
    ``export_final_board``.
    """

    section: ClassVar[str] = "train.loss"

    value_weight: Number = Field(default=1.0, ge=0)
    """Weight of the value loss; AlphaGo Zero: 1, and 0.01 for supervised learning."""
    root_value_mix: Number = Field(default=0.0, ge=0, le=1)
    """Fraction of the search's root value in the target z; the rest is the outcome of the game."""
    reply_weight: Number = Field(default=0.0, ge=0)
    """Weight of the cross entropy with the opponent's reply, the policy of the game's next position
    [KataGo: 0.15]."""
    short_value_weight: Number = Field(default=0.0, ge=0)
    """Weight of the mean squared error of values a few plies later, one per horizon [KataGo]."""
    horizons: PositiveNumbers = (6.0, 16.0, 50.0)
    """Average number of plies that each of those values looks ahead [KataGo, Go 19x19; choose fewer
    on smaller boards]."""
    ownership_weight: Number = Field(default=0.0, ge=0)
    """Weight of the cross entropy of the predicted ownership at the end of the game, averaged over
    the points [KataGo: 1.5]."""
    score_weight: Number = Field(default=0.0, ge=0)
    """Weight of the Huber loss of the predicted final score in Go and Othello [KataGo: 0.0015]."""

    @model_validator(mode="after")
    def _check_horizons(self) -> LossConfig:
        if self.short_value_weight > 0 and not self.horizons:
            self.refuse("horizons", "at least one if short_value_weight > 0", self.horizons)
        return self

    @property
    def target_horizons(self) -> tuple[float, ...]:
        """The horizons for which values are learned."""
        return self.horizons if self.short_value_weight > 0 else ()

    @property
    def auxiliary(self) -> bool:
        """Whether there are targets besides policy and value."""
        return self.final_board or self.reply_weight > 0 or self.short_value_weight > 0

    @property
    def final_board(self) -> bool:
        """Whether ownership or score is learned."""
        return self.ownership_weight > 0 or self.score_weight > 0


class OptimiserConfig(Section):
    """The optimiser and its learning rate schedule."""

    section: ClassVar[str] = "train.optimiser"

    #: May change when a run is resumed: rates are often lowered when progress stalls.
    FREE: ClassVar[tuple[str, ...]] = ("boundaries", "rates")

    kind: Literal["sgd", "adamw"] = "sgd"
    """The optimiser."""
    momentum: Number = Field(default=0.9, ge=0, lt=1)
    """Momentum of ``"sgd"`` [AlphaGo Zero]."""
    weight_decay: Number = Field(default=1e-4, ge=0)
    """Decay of the weights of convolutions and linear layers, but not of biases and normalisation.
    With ``"sgd"`` it is the c in c‖θ‖² [AlphaGo Zero]; with ``"adamw"`` it is decoupled."""
    clip_norm: Number | None = Field(default=None, gt=0)
    """Maximum norm of the gradient; None = no limit."""
    schedule: Literal["alphago_zero", "alphago_zero_supervised", "cosine", "constant", "steps"] = (
        "alphago_zero"
    )
    """How the learning rate depends on the step. The first two are the published tables: 0.01, then
    0.001 from step 400,000 and 0.0001 from 600,000; supervised: 0.1, divided by 10 at steps
    200,000, 400,000, 600,000 and 700,000."""
    learning_rate: Number = Field(default=1e-2, gt=0)
    """The peak of ``"cosine"``; the rate of ``"constant"``."""
    warm_up: int = Field(default=0, ge=0)
    """Steps of linear warm-up from 0, for every schedule."""
    total_steps: int | None = Field(default=None, ge=1)
    """Total steps of ``"cosine"``, which requires them."""
    final_fraction: Number = Field(default=0.0, ge=0, le=1)
    """Rate at the end of ``"cosine"`` as a fraction of the peak."""
    step_scale: Number = Field(default=1.0, gt=0)
    """Factor by which the steps of the published tables are multiplied."""
    boundaries: PositiveInts = ()
    """The increasing steps at which the rate of ``"steps"`` changes. They and ``rates`` may change
    when training is resumed."""
    rates: PositiveNumbers = ()
    """The rates of ``"steps"``: one more than ``boundaries``."""

    @model_validator(mode="after")
    def _check_schedule(self) -> OptimiserConfig:
        if self.schedule == "cosine" and self.total_steps is None:
            self.refuse("total_steps", 'an int >= 1 for schedule = "cosine"', None)
        if self.schedule == "steps" and len(self.rates) != len(self.boundaries) + 1:
            expected = f"{len(self.boundaries) + 1}, one more than boundaries"
            self.refuse("rates", expected, self.rates)
        for name in ("rates", "boundaries"):
            if self.schedule != "steps" and getattr(self, name):
                self.refuse(name, 'none unless schedule = "steps"', getattr(self, name))
        if list(self.boundaries) != sorted(set(self.boundaries)):
            self.refuse("boundaries", "increasing steps", self.boundaries)
        return self


class AverageConfig(Section):
    """The average of the weights that is exported."""

    section: ClassVar[str] = "train.average"

    kind: Literal["none", "ema", "swa"] = "none"
    """No average, an exponential moving average, or the mean."""
    decay: Number = Field(default=0.999, ge=0, le=1)
    """Decay of ``"ema"`` per update; smaller in the first updates."""
    every: int = Field(default=1, ge=1)
    """Steps between two updates of the average."""
    start: int = Field(default=0, ge=0)
    """Step of the first update."""


class LearnerConfig(Section):
    """How batches are drawn and what is stored; the other settings say what is learned."""

    section: ClassVar[str] = "train"

    batch_size: int = Field(default=256, ge=1)
    """Positions per step, over all processes; a multiple of ``processes``."""
    augment: bool = True
    """Whether a random symmetry of the board is applied to each position."""
    seed: int = Field(default=0, ge=0, le=MOST_SEED)
    """Seed of weights and batches. A run file's default is the ``seed`` of ``[run]``."""
    processes: int = Field(default=1, ge=1)
    """Processes of a run's learner on this machine, each with its own GPU if there are GPUs."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device that PyTorch uses."""
    threads: int | None = Field(default=None, ge=1, le=65_535)
    """PyTorch's CPU threads in each process; None = PyTorch's default."""
    channels_last: bool = True
    """Whether activations use the channels-last memory format."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of the tower's activations."""
    compile: bool = False
    """Whether ``torch.compile`` compiles the network, which takes about a minute at the start; on
    the CPU it needs a C++ compiler."""
    checkpoint_steps: int = Field(default=1000, ge=1)
    """Steps between two checkpoints."""
    keep: int = Field(default=3, ge=1)
    """Number of checkpoints to keep."""
    log_steps: int = Field(default=100, ge=1)
    """Steps between two lines of the log."""
    export_final_board: bool = False
    """Whether exported networks also predict ownership and score, as trained by
    ``ownership_weight`` and ``score_weight``."""

    #: May change when a run is resumed: they do not affect the result.
    FREE: ClassVar[tuple[str, ...]] = (
        "processes",
        "device",
        "threads",
        "channels_last",
        "compile",
        "checkpoint_steps",
        "keep",
        "log_steps",
        "export_final_board",
    )

    @model_validator(mode="after")
    def _check_processes(self) -> LearnerConfig:
        if self.batch_size % self.processes:
            expected = f"a divisor of the batch_size {self.batch_size}"
            self.refuse("processes", expected, self.processes)
        return self


class TrainConfig(Section):
    """All settings that determine what a network learns from given data."""

    network: NetworkConfig = NetworkConfig()
    """The network."""
    loss: LossConfig = LossConfig()
    """The loss."""
    optimiser: OptimiserConfig = OptimiserConfig()
    """The optimiser."""
    average: AverageConfig = AverageConfig()
    """The average that is exported."""
    learner: LearnerConfig = LearnerConfig()
    """Batches, device, checkpoints."""

    @model_validator(mode="after")
    def _check_final_board(self) -> TrainConfig:
        if self.learner.export_final_board and not self.loss.final_board:
            expected = "false without loss.ownership_weight and loss.score_weight"
            self.learner.refuse("export_final_board", expected, True)
        return self

    def fixed(self) -> dict[str, dict[str, Any]]:
        """Return the fields that must not change when training is resumed."""
        tables = self.to_dict()
        for part, free in (("learner", LearnerConfig.FREE), ("optimiser", OptimiserConfig.FREE)):
            tables[part] = {k: v for k, v in tables[part].items() if k not in free}
        if self.loss.short_value_weight == 0:  # horizons then have no effect
            tables["loss"]["horizons"] = LossConfig().to_dict()["horizons"]
        return tables


#: Step from which each rate applies. Silver et al., *Mastering the game of Go without human
#: knowledge* (2017), Extended Data Table 3: reinforcement learning, and supervised learning.
_TABLES = {
    "alphago_zero": ((0, 1e-2), (400_000, 1e-3), (600_000, 1e-4)),
    "alphago_zero_supervised": (
        (0, 1e-1),
        (200_000, 1e-2),
        (400_000, 1e-3),
        (600_000, 1e-4),
        (700_000, 1e-5),
    ),
}


def learning_rate(config: OptimiserConfig, step: int) -> float:
    """Return the rate at a step, counted from 0. Raises ConfigError for a negative step."""
    step = integer("step", step, 0)
    rise = min(step + 1, config.warm_up + 1) / (config.warm_up + 1)
    return rise * _full_rate(config, step)


def _full_rate(config: OptimiserConfig, step: int) -> float:
    """Return the rate without warm-up."""
    if config.schedule == "constant":
        return config.learning_rate
    if config.schedule == "cosine":  # half a cosine, from 1 to final_fraction
        total = max(1, (config.total_steps or 1) - config.warm_up)
        done = min(total, max(0, step - config.warm_up)) / total
        low = config.final_fraction
        return config.learning_rate * (low + (1 - low) * 0.5 * (1 + math.cos(math.pi * done)))
    if config.schedule == "steps":
        return config.rates[bisect.bisect_right(config.boundaries, step)]
    table = _TABLES[config.schedule]
    return next(rate for start, rate in reversed(table) if start * config.step_scale <= step)
