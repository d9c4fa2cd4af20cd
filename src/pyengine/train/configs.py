"""The settings of network, loss, optimiser and learner; they need no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from pyengine.settings import Settings
from pyengine.train.section import (
    MOST_SEED,
    Section,
    choice,
    flag,
    integer,
    number,
    numbers,
)

__all__ = [
    "AverageConfig",
    "LearnerConfig",
    "LossConfig",
    "NetworkConfig",
    "OptimiserConfig",
    "TrainConfig",
]


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(Section):
    """A residual network: a tower of blocks and two heads.

    ``kind="alphago_zero"`` has the heads as published, with fully connected layers for one board;
    ``"convolutional"`` has heads of 1x1 convolutions and global pooling, for boards of any size;
    ``"value"`` is the latter with a value alone: all its policy logits are 0, equal priors.
    """

    section: ClassVar[str] = "network"

    kind: str = choice("alphago_zero", "alphago_zero", "convolutional", "value")
    blocks: int = integer(4, 0)  #: residual blocks; AlphaGo Zero: 19 or 39
    filters: int = integer(64, 1)  #: of every convolution in the tower; AlphaGo Zero: 256
    value: str = choice("scalar", "scalar", "wdl")  #: tanh, or logits of win, draw, loss
    policy_filters: int = integer(2, 1)  #: of the policy head's 1x1 convolution [AlphaGo Zero]
    value_filters: int = integer(1, 1)  #: of the value head's [AlphaGo Zero]
    value_hidden: int = integer(256, 1)  #: units of the value head's hidden layer [AlphaGo Zero]

    @classmethod
    def convolutional(cls, **settings: object) -> NetworkConfig:
        """Return settings for any board size, with wider heads where they are not given.

        With ``kind="value"`` those of a network without a policy.
        """
        heads = {"policy_filters": 16, "value_filters": 16, "value_hidden": 64}
        return cls.from_dict({"kind": "convolutional", **heads, **settings})


@dataclass(frozen=True, kw_only=True)
class LossConfig(Section):
    """``value_weight (z - v)² - πᵀ log p + c‖θ‖²`` [AlphaGo Zero]; for WDL a cross entropy.

    ``c`` is the optimiser's ``weight_decay``.
    """

    section: ClassVar[str] = "loss"

    value_weight: float = number(1.0)  #: AlphaGo Zero: 1, and 0.01 for supervised learning
    root_value_mix: float = number(0.0, 0.0, 1.0)  #: share of the search's root value in z


@dataclass(frozen=True, kw_only=True)
class OptimiserConfig(Section):
    """The optimiser and its learning rate by steps."""

    section: ClassVar[str] = "optimiser"

    kind: str = choice("sgd", "sgd", "adamw")
    momentum: float = number(0.9, 0.0, 1.0, below=True)  #: of SGD [AlphaGo Zero]
    weight_decay: float = number(1e-4)  #: SGD: c of c‖θ‖² [AlphaGo Zero]; AdamW: decoupled
    clip_norm: float | None = number(None, above=True, none=True)  #: most norm of the gradient
    schedule: str = choice(
        "alphago_zero", "alphago_zero", "alphago_zero_supervised", "cosine", "constant", "steps"
    )
    learning_rate: float = number(1e-2, above=True)  #: of "cosine" (peak) and "constant"
    warm_up: int = integer(0)  #: steps of a linear rise from nothing, of every schedule
    total_steps: int | None = integer(None, 1, none=True)  #: of "cosine"
    final_fraction: float = number(0.0, 0.0, 1.0)  #: of the peak, at the end of "cosine"
    step_scale: float = number(1.0, above=True)  #: stretches the published tables' steps
    boundaries: tuple[float, ...] = numbers((), int)  #: of "steps": where the rate changes
    rates: tuple[float, ...] = numbers(())  #: of "steps": one more than boundaries

    def __post_init__(self) -> None:
        """Check that the schedule has what it needs."""
        super().__post_init__()
        if self.schedule == "cosine" and self.total_steps is None:
            self.refuse("total_steps", 'an int of at least 1 for schedule = "cosine"', None)
        if self.schedule == "steps" and len(self.rates) != len(self.boundaries) + 1:
            self.refuse(
                "rates", f"{len(self.boundaries) + 1}, one more than boundaries", self.rates
            )
        if list(self.boundaries) != sorted(set(self.boundaries)):
            self.refuse("boundaries", "steps that increase", self.boundaries)


@dataclass(frozen=True, kw_only=True)
class AverageConfig(Section):
    """An average of the weights along the way, which is what gets exported."""

    section: ClassVar[str] = "average"

    kind: str = choice("none", "none", "ema", "swa")  #: decaying average, or the plain mean
    decay: float = number(0.999, 0.0, 1.0)  #: of "ema", each time; less in the first steps
    every: int = integer(1, 1)  #: steps between two additions
    start: int = integer(0)  #: step of the first addition


@dataclass(frozen=True, kw_only=True)
class LearnerConfig(Section):
    """How batches are drawn and what is kept; what is learnt stands in the other settings."""

    section: ClassVar[str] = "train"

    batch_size: int = integer(256, 1)  #: positions of a step, over all processes
    augment: bool = flag(True)  #: a random board symmetry for each position
    seed: int = integer(0, most=MOST_SEED)
    processes: int = integer(1, 1)  #: of a run's learner here, each with a GPU where there are some
    device: str = choice("auto", "auto", "cpu", "cuda")
    threads: int | None = integer(
        None, 1, none=True
    )  #: of PyTorch on the CPU, each process; None: its own
    channels_last: bool = flag(True)  #: memory format of the activations; faster as a rule
    precision: str = choice("float32", "float32", "bfloat16")  #: of the tower's activations
    checkpoint_steps: int = integer(1000, 1)  #: between two checkpoints
    keep: int = integer(3, 1)  #: checkpoints
    log_steps: int = integer(100, 1)  #: between two lines of the log

    #: May change when a run goes on: they do not say what is computed.
    FREE: ClassVar[tuple[str, ...]] = (
        "processes",
        "device",
        "threads",
        "channels_last",
        "checkpoint_steps",
        "keep",
        "log_steps",
    )

    def __post_init__(self) -> None:
        """Check that each process has as much of a batch."""
        super().__post_init__()
        if self.batch_size % self.processes:
            self.refuse(
                "processes", f"a divisor of the batch_size {self.batch_size}", self.processes
            )


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Settings):
    """All that decides what a network learns from given data."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    average: AverageConfig = field(default_factory=AverageConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return all fields as plain values, a table for each part."""
        return {part.name: getattr(self, part.name).to_dict() for part in fields(self)}

    def fixed(self) -> dict[str, dict[str, Any]]:
        """Return the fields that must stay the same when a training goes on."""
        tables = self.to_dict()
        for name in LearnerConfig.FREE:
            del tables["learner"][name]
        return tables
