"""The learner: steps, checkpoints, exact resume."""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import integer, repr_with_type
from pyengine.base.files import path_of
from pyengine.base.interrupts import deferred_interrupt
from pyengine.errors import ConfigError, DataError
from pyengine.train import checkpoint
from pyengine.train.blocks import Features
from pyengine.train.configs import TrainConfig, learning_rate
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line, writing
from pyengine.train.loss import AUXILIARY, Losses, losses
from pyengine.train.network import Network, new_network
from pyengine.train.optim import average_of, optimiser_of, set_rate, with_statistics
from pyengine.train.protocol import Shape, TrainingData, require_targets, shape_of
from pyengine.train.ranks import Ranks
from pyengine.train.settings import differences

#: Positions, and minimum number of batches, for the statistics of an averaged network.
_STATISTICS, _LEAST_BATCHES = 4096, 8

#: Arrays of a batch that are used for training, if the data have them.
_LEARNT = (
    "planes",
    "policy",
    "value",
    "root_value",
    "full",
    "decided",
    "reply",
    "replied",
    "short_values",
    "ownership",
    "score",
    "ended",
)
#: Losses reported as means.
_SUMMED = tuple(loss.name for loss in fields(Losses) if loss.name != "total")


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """Means over the steps since the last report, or since the Learner was created.

    ``step`` is the total number of steps, ``rate`` the learning rate, ``positions_per_second`` over
    all processes. Losses: ``policy``, cross entropy with the visits in nats; ``divergence``, the
    same minus the entropy of the targets, so 0 is perfect; ``value``, squared error of a value in
    [-1, 1], or cross entropy of win, draw and loss in nats. None unless learned: ``reply``, cross
    entropy with the opponent's replies in nats; ``short_value``, squared error of values a few
    plies later; ``ownership``, cross entropy in nats; ``score``, Huber loss in points.
    """

    step: int
    policy: float
    divergence: float
    value: float
    rate: float
    positions_per_second: float
    reply: float | None = None
    short_value: float | None = None
    ownership: float | None = None
    score: float | None = None


OnProgress = Callable[[StepReport], object]


@dataclass
class _Unreported:
    """Sums of the losses in :data:`_SUMMED` since the last report, and their duration."""

    sums: torch.Tensor = field(default_factory=lambda: torch.zeros(len(_SUMMED)))
    steps: int = 0
    seconds: float = 0.0


class _TrainLog:
    """Writes ``log.jsonl``, and scalars for TensorBoard if it is installed. Raises DataError."""

    def __init__(self, directory: Path) -> None:
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "log.jsonl"
        self._board: Any = None
        if importlib.util.find_spec("tensorboard") is not None:
            tensorboard = importlib.import_module("torch.utils.tensorboard")
            self._board = tensorboard.SummaryWriter(str(directory / "tensorboard"))

    def add(self, values: Mapping[str, Any]) -> None:
        append_line(self._path, {"time": time.time(), **values})
        if self._board is not None:
            for name, value in values.items():
                if name != "step":
                    self._board.add_scalar(f"train/{name}", value, values["step"])

    def close(self) -> None:
        if self._board is not None:
            self._board.close()


class Learner:
    """Trains a network step by step.

    Batches depend only on the seed, the step and the data: a resumed training gives the same
    network, bit for bit on one CPU with the same number of threads.

    Args:
        config: see :class:`TrainConfig`.
        data: one :class:`TrainingData`, or several with equal specs, which each step combines (for
            a convolutional network, board sizes may differ).
        directory: for checkpoints and the log.
        resume: continue from the newest checkpoint, or start if there is none.
        weights: relative sampling weights of several data sets; None: by number of positions.
        on_progress: called with a :class:`StepReport` every ``log_steps``; False stops.

    Under torchrun every process creates a Learner with the same arguments; the first one writes.

    Raises:
        ConfigError: the settings differ from those of the checkpoint, there are checkpoints but
            ``resume`` is not set, or the data sets are incompatible.
        DataError: the checkpoint is damaged.

    """

    def __init__(
        self,
        config: TrainConfig,
        data: TrainingData | Sequence[TrainingData],
        directory: str | Path,
        *,
        resume: bool = False,
        weights: Sequence[float] | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.config = config
        self.directory = path_of("directory", directory)
        self.ranks = Ranks(config.learner.device)
        self.step = 0
        self.seconds = 0.0  #: training time over all sessions
        self._saved = 0  # step of the last checkpoint
        self._on_progress = on_progress
        self._shape: Shape | None = None
        self._seen: Features | None = None  # planes of the last step
        self._unreported = _Unreported()
        if config.learner.threads is not None:
            torch.set_num_threads(config.learner.threads)
        self.set_data(data, weights)
        self._make()
        newest = checkpoint.newest(self.directory)
        if newest is not None:
            if not resume:
                raise ConfigError(
                    f"{self.directory} holds {newest.name}: resume, or choose another directory"
                )
            self._restore(newest)
        self._log = _TrainLog(self.directory) if self.ranks.rank == 0 else None

    def set_data(
        self, data: TrainingData | Sequence[TrainingData], weights: Sequence[float] | None = None
    ) -> None:
        """Switch to other positions; see the class."""
        sources = list(data) if isinstance(data, Sequence) else [data]
        spec = sources[0].spec
        if spec.layout != "NCHW":
            raise ConfigError(f"data: expected planes in the layout NCHW, got {spec.layout}")
        for other in sources[1:]:
            if other.spec != spec:
                raise ConfigError(f"data: expected one spec, got {spec} and {other.spec}")
        if weights is not None and (
            len(weights) != len(sources) or min(weights) < 0 or max(weights) == 0
        ):
            expected = f"{len(sources)} numbers >= 0, at least one > 0"
            raise ConfigError(f"weights: expected {expected}, got {repr_with_type(weights)}")
        require_targets(sources, self.config.loss)
        self._shape = shape_of(sources, self.config.network.kind, self._shape)
        self.data, self.spec = sources, spec
        self._weights = None if weights is None else list(weights)

    def _make(self) -> None:
        """Create network and optimiser; the shapes come from the data."""
        assert self._shape is not None
        planes, height, width, actions = self._shape
        self._refuse_order(height * width, actions)
        network = new_network(self.config, planes, (height, width), actions)
        network.half = self.config.learner.precision == "bfloat16"
        self._format = (
            torch.channels_last if self.config.learner.channels_last else torch.contiguous_format
        )
        self.network = network.to(self.ranks.device, memory_format=self._format)
        self.average = average_of(self.network, self.config.average)
        self._optimiser = optimiser_of(self.network, self.config.optimiser)
        self._wrapped = self.ranks.wrap(self.network)

    def _refuse_order(self, points: int, actions: int) -> None:
        """Raise ConfigError if the network's head cannot produce the data's policy order.

        Convolutional heads have each point's logit at its position in the planes, and the pass
        last.
        """
        kind, loss = self.config.network.kind, self.config.loss
        if kind == "alphago_zero" or (kind == "value" and loss.reply_weight == 0):
            return
        spec, last = self.spec, actions - 1
        if spec.policy_rows != spec.rows:
            mismatch = f"policy_rows={spec.rows!r} like its rows, got {spec.policy_rows!r}"
        elif actions > points and spec.pass_index not in (None, last):
            mismatch = f"the pass last, got pass_index={spec.pass_index}"
        else:
            return
        raise ConfigError(
            "data: expected the network kind alphago_zero, or data whose spec has " + mismatch
        )

    @property
    def exported(self) -> Network:
        """The network to export: the average of the weights, if enabled.

        Each call recomputes the statistics of a ``"swa"`` average from additional positions; a
        decaying average has those of recent networks.
        """
        if self.average is None or int(self.average.n_averaged) == 0:
            return self.network
        module: Network = self.average.module
        if self.config.average.kind != "swa":
            return module
        batches = max(_LEAST_BATCHES, _STATISTICS // self.config.learner.batch_size)
        # Training steps do not use these random streams.
        return with_statistics(
            module, (self._planes(self._batch(stream)) for stream in range(1, batches + 1))
        )

    def _planes(self, parts: list[dict[str, torch.Tensor]]) -> Features:
        """Return the planes of a batch: a tensor, or a list with one tensor per part."""
        planes = [part.pop("planes").contiguous(memory_format=self._format) for part in parts]
        return planes[0] if len(planes) == 1 else planes

    def train(
        self, steps: int, stop: Callable[[], bool] | None = None, *, save: bool = True
    ) -> bool:
        """Run more steps; return whether all were completed.

        A checkpoint is written every ``checkpoint_steps``, and with ``save`` at the end. Ctrl-C
        takes effect between steps, writes a checkpoint and raises KeyboardInterrupt.

        Args:
            steps: at least 0.
            save: write a checkpoint at the end.
            stop: called between steps; True ends the training.

        Raises:
            TrainingError: a non-finite loss; earlier checkpoints remain.

        """
        steps = integer("steps", steps, 0)
        self._wrapped.train()
        target = self.step + steps
        with deferred_interrupt() as interrupted:
            while self.step < target:
                stopping = interrupted.is_set() or (stop is not None and stop())
                if self.ranks.any(stopping):
                    break
                self._run_step()
                if self.step % self.config.learner.log_steps == 0:
                    proceed = self._report(self._unreported)
                    self._unreported = _Unreported()
                    if self.ranks.any(proceed is False):
                        break
                if self.step % self.config.learner.checkpoint_steps == 0:
                    self.save()
            if (save or interrupted.is_set()) and self.step != self._saved:
                self.save()
        if interrupted.is_set():
            raise KeyboardInterrupt
        return self.step >= target

    def save(self) -> Path | None:
        """Write a checkpoint and return its path; None in all processes except the first.

        Raises:
            TrainingError: the weights or the network's outputs are not finite; earlier checkpoints
                remain.

        """
        if self.ranks.rank != 0:
            self._saved = self.step
            return None
        state = {
            "config": self.config.fixed(),
            "spec": self.spec.to_json(),
            "step": self.step,
            "seconds": self.seconds,
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "average": None if self.average is None else self.average.state_dict(),
        }
        self._require_sound(state)
        path = checkpoint.save(self.directory, state, self.config.learner.keep)
        self._saved = self.step
        return path

    def close(self) -> None:
        """Close the log and leave the process group."""
        if self._log is not None:
            self._log.close()
        self._wrapped = self.network  # must be freed before the processes leave
        self.ranks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close; after an error do not wait for other processes, which may wait for this one."""
        if kind is None:
            self.close()
        elif self._log is not None:
            self._log.close()

    def _restore(self, path: Path) -> None:
        state = checkpoint.load(path, self.ranks.device)
        changed = differences(state["config"], self.config.fixed())
        if changed:
            raise ConfigError(f"{path} was made with other settings: {'; '.join(changed)}")
        if state["spec"] != self.spec.to_json():
            raise ConfigError(
                f"data: expected the spec {state['spec']} of {path}, got {self.spec.to_json()}"
            )
        try:
            self.network.load_state_dict(state["network"])
            self._optimiser.load_state_dict(state["optimiser"])
            if self.average is not None:
                self.average.load_state_dict(state["average"])
        except (RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ConfigError(
                f"{path} does not fit the data, which may be of another game: {reason}"
            ) from error
        self.step, self.seconds = state["step"], state["seconds"]
        self._saved = self.step

    def _batch(self, *other: int) -> list[dict[str, torch.Tensor]]:
        """Draw this step's positions from each data set, from a stream per step and process.

        ``other``: a positive number that selects another stream.
        """
        learner = self.config.learner
        rng = np.random.default_rng((learner.seed, self.step, self.ranks.rank, *other))
        size = max(1, learner.batch_size // self.ranks.world)
        counts = [size]
        if len(self.data) > 1:
            counts = _counts(size, self._weights or [len(data) for data in self.data], rng)
        pairs = zip(self.data, counts, strict=True)
        return [self._sample(data, count, rng) for data, count in pairs if count > 0]

    def _sample(
        self, data: TrainingData, count: int, rng: np.random.Generator
    ) -> dict[str, torch.Tensor]:
        arrays = data.sample(count, rng, augment=self.config.learner.augment)
        return {
            name: torch.from_numpy(arrays[name]).to(self.ranks.device)
            for name in _LEARNT
            if name in arrays
        }

    def _run_step(self) -> None:
        """Run a step and add it to the next report."""
        start = time.perf_counter()
        rate = learning_rate(self.config.optimiser, self.step)
        set_rate(self._optimiser, rate)
        parts = self._batch()
        self._seen = self._planes(parts)
        outputs = self._wrapped(self._seen)
        loss = losses([outputs] if len(parts) == 1 else outputs, parts, self.config.loss)
        self._require_finite(loss, rate)
        self._optimiser.zero_grad(set_to_none=True)
        loss.total.backward()
        if self.config.optimiser.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(
                self.network.parameters(), self.config.optimiser.clip_norm
            )
        self._optimiser.step()
        self.step += 1
        average = self.config.average
        since = self.step - average.start
        if self.average is not None and since >= 0 and since % average.every == 0:
            self.average.update_parameters(self.network)
        self._unreported.sums += torch.stack([getattr(loss, name) for name in _SUMMED]).cpu()
        seconds = time.perf_counter() - start
        self._unreported.seconds += seconds
        self._unreported.steps += 1
        self.seconds += seconds

    def _require_finite(self, losses: Losses, rate: float) -> None:
        if math.isfinite(losses.total.item()):
            return
        raise TrainingError(
            f"step {self.step}: expected a finite loss, got policy {losses.policy.item():g} and "
            f"value {losses.value.item():g} at a learning rate of {rate:g}; {self._newest()}"
            f"{self._damage()}"
        )

    def _damage(self) -> str:
        """Verify the data; return a note for an error message, or ""."""
        verified = [data for data in self.data if hasattr(data, "verify")]
        try:
            for data in verified:
                data.verify(on_progress=lambda *_: None)
        except DataError as error:
            return f"; {error}"
        return "; no shard of the data is damaged" if verified else ""

    def _require_sound(self, state: Mapping[str, Any]) -> None:
        """Raise TrainingError if training cannot continue from this state."""
        bad = checkpoint.not_finite(state)
        if bad is None and not self._evaluates():
            bad = "an output of the network for the last step's positions"
        if bad is not None:
            rate = learning_rate(self.config.optimiser, max(0, self.step - 1))
            raise TrainingError(
                f"step {self.step} is not written: {bad} is not finite after a learning rate of "
                f"{rate:g}; {self._newest()}"
            )

    def _evaluates(self) -> bool:
        """Whether the network's outputs are finite for the positions of the last step.

        Finite but huge weights overflow here. The network's statistics do not change.
        """
        if self._seen is None:
            return True
        statistics = {name: buffer.clone() for name, buffer in self.network.named_buffers()}
        with torch.no_grad():
            outputs = torch.func.functional_call(self.network, statistics, (self._seen,))
        return checkpoint.not_finite(outputs) is None

    def _newest(self) -> str:
        """Return a note on the newest checkpoint for an error message."""
        newest = checkpoint.newest(self.directory)
        return f"the newest checkpoint is {newest}" if newest else "there is no checkpoint yet"

    def _report(self, done: _Unreported) -> object:
        means = dict(zip(_SUMMED, (done.sums / done.steps).tolist(), strict=True))
        for name in AUXILIARY:
            if getattr(self.config.loss, f"{name}_weight") == 0:
                del means[name]
        positions = done.steps * self.config.learner.batch_size
        report = StepReport(
            step=self.step,
            rate=learning_rate(self.config.optimiser, self.step - 1),
            positions_per_second=positions / max(done.seconds, 1e-9),
            **means,
        )
        if self._log is not None:
            values = asdict(report).items()
            self._log.add({name: value for name, value in values if value is not None})
        return None if self._on_progress is None else self._on_progress(report)


def _counts(size: int, weights: Sequence[float], rng: np.random.Generator) -> list[int]:
    """Divide a batch among several data sets in proportion, with random rounding."""
    ends = np.cumsum(np.array(weights, np.float64)) * (size / np.sum(weights))
    ends[-1] = size
    return [int(n) for n in np.diff(np.floor(ends + rng.random()), prepend=0)]
