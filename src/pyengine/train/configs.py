"""The settings of network, loss, optimiser and learner; they need no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from pyengine.base.arguments import check_type
from pyengine.base.settings import Settings
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
    "fixed_of",
]

_MOST_BLOCKS, _MOST_WIDTH = 10_000, 1 << 16  # more is a slip, and no memory has room for it


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(Section):
    """A residual network: a tower of blocks and two heads.

    ``kind="alphago_zero"`` has the heads as published, with fully connected layers for one board;
    ``"convolutional"`` has heads of 1x1 convolutions and global pooling, for boards of any size;
    ``"value"`` is the latter with a value alone: all its policy logits are 0, equal priors.

    Attributes:
        kind ("alphago_zero", "convolutional" or "value", default "alphago_zero"): which heads the
            network has.
        blocks (int in [0, 10000], default 4): residual blocks; AlphaGo Zero: 19 or 39.
        filters (int in [1, 65536], default 64): of each convolution in the tower; AlphaGo Zero:
            256.
        pooling_every (int >= 0, default 0): each so many blocks the first convolution gets a bias
            for each channel that is learnt from the whole board: global pooling [KataGo]; 0 = none.
        squeeze_excitation (int in [0, 65536], default 0): units of the layer by which each block
            scales and shifts its channels, from their means over the board [Lc0]; 0 = none.
        value ("scalar" or "wdl", default "scalar"): a value by tanh, or logits of win, draw, loss.
        policy_filters (int in [1, 65536], default 2): of the policy head's 1x1 convolution [AlphaGo
            Zero]. A run file has 16 where ``kind`` is not ``"alphago_zero"``.
        value_filters (int in [1, 65536], default 1): of the value head's 1x1 convolution [AlphaGo
            Zero]; likewise 16.
        value_hidden (int in [1, 65536], default 256): units of the value head's hidden layer
            [AlphaGo Zero]; likewise 64.
    """

    section: ClassVar[str] = "network"

    kind: str = choice("alphago_zero", "alphago_zero", "convolutional", "value")
    blocks: int = integer(4, most=_MOST_BLOCKS)
    filters: int = integer(64, 1, most=_MOST_WIDTH)
    pooling_every: int = integer(0)
    squeeze_excitation: int = integer(0, most=_MOST_WIDTH)
    value: str = choice("scalar", "scalar", "wdl")
    policy_filters: int = integer(2, 1, most=_MOST_WIDTH)
    value_filters: int = integer(1, 1, most=_MOST_WIDTH)
    value_hidden: int = integer(256, 1, most=_MOST_WIDTH)

    def __post_init__(self) -> None:
        """Check that some block has the global pooling."""
        super().__post_init__()
        if self.pooling_every > self.blocks:
            self.refuse("pooling_every", f"at most the {self.blocks} blocks", self.pooling_every)

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

    ``c`` is the optimiser's ``weight_decay``. A weight of another target above 0 gives the network
    a head for it. These heads are there for the training alone; those of ownership and score stay
    where a run has ``export_final_board``.

    Attributes:
        value_weight (float >= 0, default 1.0): of the value's loss; AlphaGo Zero: 1, and 0.01 for
            supervised learning.
        root_value_mix (float in [0, 1], default 0.0): share of the search's root value in the
            target z; the rest is the outcome of the game.
        reply_weight (float >= 0, default 0.0): of a cross entropy to the opponent's reply, the
            policy of the game's next position [KataGo: 0.15].
        short_value_weight (float >= 0, default 0.0): of the mean squared error of the values of
            some plies on, one a horizon [KataGo].
        horizons (list of float > 0, default (6.0, 16.0, 50.0)): how many plies ahead those values
            look, on average [KataGo, Go 19x19; shorter on smaller boards].
        ownership_weight (float >= 0, default 0.0): of a cross entropy to whose each point is on the
            game's last board, the mean over the points [KataGo: 1.5].
        score_weight (float >= 0, default 0.0): of a Huber loss of the points by which the player to
            move is ahead on that board, in Go and Othello [KataGo: 0.0015].
    """

    section: ClassVar[str] = "loss"

    value_weight: float = number(1.0)
    root_value_mix: float = number(0.0, 0.0, 1.0)
    reply_weight: float = number(0.0)
    short_value_weight: float = number(0.0)
    horizons: tuple[float, ...] = numbers((6.0, 16.0, 50.0))
    ownership_weight: float = number(0.0)
    score_weight: float = number(0.0)

    def __post_init__(self) -> None:
        """Check that there is a horizon where one is needed."""
        super().__post_init__()
        if self.short_value_weight > 0 and not self.horizons:
            self.refuse("horizons", "at least one for short_value_weight", self.horizons)

    @property
    def target_horizons(self) -> tuple[float, ...]:
        """The horizons whose values are learnt."""
        return self.horizons if self.short_value_weight > 0 else ()

    @property
    def final_board(self) -> bool:
        """Whether anything of the last board is learnt."""
        return self.ownership_weight > 0 or self.score_weight > 0


@dataclass(frozen=True, kw_only=True)
class OptimiserConfig(Section):
    """The optimiser and its learning rate by steps.

    Attributes:
        kind ("sgd" or "adamw", default "sgd"): the optimiser.
        momentum (float in [0, 1), default 0.9): of ``"sgd"`` [AlphaGo Zero].
        weight_decay (float >= 0, default 1e-4): of the weights of convolutions and linear layers:
            biases and the scales of normalisation do not decay. With ``"sgd"`` the c of c‖θ‖²
            [AlphaGo Zero]; with ``"adamw"`` decoupled.
        clip_norm (float > 0 or None, default None): most norm of the gradient; None = no limit.
        schedule ("alphago_zero", "alphago_zero_supervised", "cosine", "constant" or "steps",
            default "alphago_zero"): the learning rate by steps. The first two are the published
            tables: 0.01, from step 400,000 0.001, from 600,000 0.0001; and supervised 0.1, from
            200,000, 400,000, 600,000 and 700,000 on a tenth each.
        learning_rate (float > 0, default 1e-2): the peak of ``"cosine"``; the rate of
            ``"constant"``.
        warm_up (int >= 0, default 0): steps of a linear rise from nothing, of every schedule.
        total_steps (int >= 1 or None, default None): of ``"cosine"``, which needs it.
        final_fraction (float in [0, 1], default 0.0): share of the peak that is left at the end of
            ``"cosine"``.
        step_scale (float > 0, default 1.0): multiplies the steps of the published tables.
        boundaries (list of int > 0, default ()): of ``"steps"`` alone: where the rate changes;
            increasing. May change when a training goes on, as ``rates`` may.
        rates (list of float > 0, default ()): of ``"steps"`` alone: one more than ``boundaries``.
    """

    section: ClassVar[str] = "optimiser"

    #: May change when a run goes on: a rate is often lowered when progress ends.
    FREE: ClassVar[tuple[str, ...]] = ("boundaries", "rates")

    kind: str = choice("sgd", "sgd", "adamw")
    momentum: float = number(0.9, 0.0, 1.0, below=True)
    weight_decay: float = number(1e-4)
    clip_norm: float | None = number(None, above=True, none=True)
    schedule: str = choice(
        "alphago_zero", "alphago_zero", "alphago_zero_supervised", "cosine", "constant", "steps"
    )
    learning_rate: float = number(1e-2, above=True)
    warm_up: int = integer(0)
    total_steps: int | None = integer(None, 1, none=True)
    final_fraction: float = number(0.0, 0.0, 1.0)
    step_scale: float = number(1.0, above=True)
    boundaries: tuple[float, ...] = numbers((), int)
    rates: tuple[float, ...] = numbers(())

    def __post_init__(self) -> None:
        """Check that the schedule has what it needs."""
        super().__post_init__()
        if self.schedule == "cosine" and self.total_steps is None:
            self.refuse("total_steps", 'an int of at least 1 for schedule = "cosine"', None)
        if self.schedule == "steps" and len(self.rates) != len(self.boundaries) + 1:
            self.refuse(
                "rates", f"{len(self.boundaries) + 1}, one more than boundaries", self.rates
            )
        for name in ("rates", "boundaries"):
            if self.schedule != "steps" and getattr(self, name):
                self.refuse(name, 'none but for schedule = "steps"', getattr(self, name))
        if list(self.boundaries) != sorted(set(self.boundaries)):
            self.refuse("boundaries", "steps that increase", self.boundaries)


@dataclass(frozen=True, kw_only=True)
class AverageConfig(Section):
    """An average of the weights along the way, which is what is exported.

    Attributes:
        kind ("none", "ema" or "swa", default "none"): the weights as they are, an exponentially
            decaying average, or the plain mean.
        decay (float in [0, 1], default 0.999): of ``"ema"``, at each addition; less in the first.
        every (int >= 1, default 1): steps between two additions.
        start (int >= 0, default 0): step of the first addition.
    """

    section: ClassVar[str] = "average"

    kind: str = choice("none", "none", "ema", "swa")
    decay: float = number(0.999, 0.0, 1.0)
    every: int = integer(1, 1)
    start: int = integer(0)


@dataclass(frozen=True, kw_only=True)
class LearnerConfig(Section):
    """How batches are drawn and what is kept; what is learnt is in the other settings.

    Attributes:
        batch_size (int >= 1, default 256): positions of a step, over all processes; a multiple of
            ``processes``.
        augment (bool, default True): each position under a random symmetry of the board.
        seed (int in [0, 2**62], default 0): of weights and batches. A run file's default is the
            ``seed`` of ``[run]``.
        processes (int >= 1, default 1): of a run's learner on this machine, each with a GPU where
            there are some.
        device ("auto", "cpu" or "cuda", default "auto"): where PyTorch computes.
        threads (int in [1, 65535] or None, default None): of PyTorch on the CPU, in each
            process; None = PyTorch's own choice.
        channels_last (bool, default True): memory format of the activations.
        precision ("float32" or "bfloat16", default "float32"): of the tower's activations.
        checkpoint_steps (int >= 1, default 1000): steps between two checkpoints.
        keep (int >= 1, default 3): checkpoints that are kept, the newest.
        log_steps (int >= 1, default 100): steps between two lines of the log.
        export_final_board (bool, default False): whether networks that are exported say what they
            learnt of the last board, besides policy and value: by ``ownership_weight``,
            ``score_weight`` or both.
    """

    section: ClassVar[str] = "train"

    batch_size: int = integer(256, 1)
    augment: bool = flag(True)
    seed: int = integer(0, most=MOST_SEED)
    processes: int = integer(1, 1)
    device: str = choice("auto", "auto", "cpu", "cuda")
    threads: int | None = integer(None, 1, most=65_535, none=True)
    channels_last: bool = flag(True)
    precision: str = choice("float32", "float32", "bfloat16")
    checkpoint_steps: int = integer(1000, 1)
    keep: int = integer(3, 1)
    log_steps: int = integer(100, 1)
    export_final_board: bool = flag(False)

    #: May change when a run goes on: they do not say what is computed.
    FREE: ClassVar[tuple[str, ...]] = (
        "processes",
        "device",
        "threads",
        "channels_last",
        "checkpoint_steps",
        "keep",
        "log_steps",
        "export_final_board",
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
    """All that decides what a network learns from given data.

    Attributes:
        network (NetworkConfig, default NetworkConfig()): the network.
        loss (LossConfig, default LossConfig()): what is minimised.
        optimiser (OptimiserConfig, default OptimiserConfig()): how.
        average (AverageConfig, default AverageConfig()): of the weights that are exported.
        learner (LearnerConfig, default LearnerConfig()): batches, device, checkpoints.
    """

    network: NetworkConfig = field(default_factory=NetworkConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    average: AverageConfig = field(default_factory=AverageConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)

    def __post_init__(self) -> None:
        """Check that each part is one."""
        for part in fields(self):
            kind = part.default_factory
            assert isinstance(kind, type)
            check_type(part.name, getattr(self, part.name), kind, f"a value of {kind.__name__}")
        if self.learner.export_final_board and not self.loss.final_board:
            wanted = "false without loss.ownership_weight and loss.score_weight"
            self.learner.refuse("export_final_board", wanted, True)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return all fields as plain values, a table for each part."""
        return {part.name: getattr(self, part.name).to_dict() for part in fields(self)}

    def fixed(self) -> dict[str, dict[str, Any]]:
        """Return the fields that must stay the same when a training goes on."""
        tables = fixed_of(self.to_dict())
        if self.loss.short_value_weight == 0:  # then horizons say nothing
            tables["loss"]["horizons"] = LossConfig().to_dict()["horizons"]
        return tables


def fixed_of(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a training's parts without the fields that may change later."""
    fixed = dict(tables)
    for part, free in (("learner", LearnerConfig.FREE), ("optimiser", OptimiserConfig.FREE)):
        table = tables.get(part)
        if isinstance(table, Mapping):  # a damaged checkpoint may have something else
            fixed[part] = {name: value for name, value in table.items() if name not in free}
    return fixed
