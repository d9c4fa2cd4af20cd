"""The learner: steps, checkpoints, exact resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import integer, repr_with_type
from pyengine.base.files import path_of
from pyengine.base.interrupts import deferred_interrupt
from pyengine.errors import ConfigError
from pyengine.train import checkpoint
from pyengine.train.blocks import Features
from pyengine.train.configs import TrainConfig, learning_rate
from pyengine.train.log import OnProgress, RunningLosses, TrainLog
from pyengine.train.loss import Outputs, losses
from pyengine.train.network import Network, new_network
from pyengine.train.optim import average_of, optimiser_of, restore, set_rate, with_statistics
from pyengine.train.protocol import Shape, TrainingData, require_targets, shape_of
from pyengine.train.ranks import Ranks
from pyengine.train.settings import differences
from pyengine.train.soundness import require_finite, require_sound

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
        self._planes: Features | None = None  # of the last step
        self._unreported = RunningLosses()
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
        self._log = TrainLog(self.directory) if self.ranks.rank == 0 else None

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
        if self.config.learner.compile:
            self._wrapped = torch.compile(self._wrapped)

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
        elif actions > points + 1 and spec.rows != "top_down":
            mismatch = f"rows='top_down', got {spec.rows!r}"
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
        return with_statistics(module, (self._batch(stream)[0] for stream in range(1, batches + 1)))

    def train(
        self, steps: int, stop: Callable[[], bool] | None = None, *, save: bool = True
    ) -> bool:
        """Run more steps; return whether all were completed.

        A checkpoint is written every ``checkpoint_steps``, and with ``save`` at the end. Ctrl-C
        takes effect between steps, writes a checkpoint and raises KeyboardInterrupt.

        Args:
            steps: at least 0.
            stop: called between steps; True ends the training.
            save: write a checkpoint at the end.

        Raises:
            TrainingError: a non-finite loss; earlier checkpoints remain. Losses are checked before
                each report and checkpoint and at the end, since reading them waits for a GPU.

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
                    proceed = self._report()
                    if self.ranks.any(not proceed):
                        break
                if self.step % self.config.learner.checkpoint_steps == 0:
                    self.save()
            self._require_finite()
            if (save or interrupted.is_set()) and self.step != self._saved:
                self.save()
        if interrupted.is_set():
            raise KeyboardInterrupt
        return self.step >= target

    def save(self) -> Path | None:
        """Write a checkpoint and return its path; None in all processes except the first.

        Raises:
            TrainingError: a loss, the weights or the network's outputs are not finite; earlier
                checkpoints remain.

        """
        self._require_finite()
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
        require_sound(state, self.network, self._planes, self._last_rate, self.directory)
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
            restore(self._optimiser, state["optimiser"])
            if self.average is not None:
                self.average.load_state_dict(state["average"])
        except (RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ConfigError(
                f"{path} does not fit the data, which may be of another game: {reason}"
            ) from error
        self.step, self.seconds = state["step"], state["seconds"]
        self._saved = self.step

    @property
    def _last_rate(self) -> float:
        """The learning rate of the last step."""
        return learning_rate(self.config.optimiser, max(0, self.step - 1))

    def _batch(self, *other: int) -> tuple[Features, list[dict[str, torch.Tensor]]]:
        """Draw this step's positions from each data set, from a stream per step and process.

        ``other``: a positive number that selects another stream.

        Returns:
            The planes, and the targets with one part per data set.

        """
        learner = self.config.learner
        rng = np.random.default_rng((learner.seed, self.step, self.ranks.rank, *other))
        size = max(1, learner.batch_size // self.ranks.world)
        counts = [size]
        if len(self.data) > 1:
            counts = _counts(size, self._weights or [len(data) for data in self.data], rng)
        pairs = zip(self.data, counts, strict=True)
        parts = [self._sample(data, count, rng) for data, count in pairs if count > 0]
        planes = [part.pop("planes").contiguous(memory_format=self._format) for part in parts]
        return planes[0] if len(planes) == 1 else planes, parts

    def _sample(
        self, data: TrainingData, count: int, rng: np.random.Generator
    ) -> dict[str, torch.Tensor]:
        arrays = data.sample(count, rng, augment=self.config.learner.augment)
        return {name: self.ranks.place(arrays[name]) for name in _LEARNT if name in arrays}

    def _run_step(self) -> None:
        """Run a step and add it to the next report, without waiting for the device."""
        with self._timed():
            set_rate(self._optimiser, learning_rate(self.config.optimiser, self.step))
            self._planes, targets = self._batch()
            outputs = self._wrapped(self._planes)
            by_part = [outputs] if len(targets) == 1 else outputs
            loss = losses([Outputs(*part) for part in by_part], targets, self.config.loss)
            self._optimiser.zero_grad(set_to_none=True)
            loss.total.backward()
            if self.config.optimiser.clip_norm is not None:
                torch.nn.utils.clip_grad_norm_(
                    self.network.parameters(), self.config.optimiser.clip_norm
                )
            self._optimiser.step()
            self.step += 1
            self._unreported.add(loss)
            self._update_averages()

    def _update_averages(self) -> None:
        """Average the statistics of all processes, and update the average of the weights."""
        self.ranks.average_statistics(self.network)
        average = self.config.average
        since = self.step - average.start
        if self.average is not None and since >= 0 and since % average.every == 0:
            self.average.update_parameters(self.network)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Add the duration of the block to the training time."""
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self._unreported.seconds += seconds
        self.seconds += seconds

    def _require_finite(self) -> None:
        """Wait for the device; raise TrainingError for a loss that is not finite."""
        with self._timed():
            require_finite(
                self._unreported, self.step, self.config.optimiser, self.data, self.directory
            )

    def _report(self) -> bool:
        """Report the steps since the last report; return whether training continues."""
        self._require_finite()
        report = self._unreported.report(
            self.step, self._last_rate, self.config.learner.batch_size, self.config.loss
        )
        self._unreported = RunningLosses()
        if self._log is not None:
            self._log.add(report)
        return self._on_progress is None or self._on_progress(report) is not False


def _counts(size: int, weights: Sequence[float], rng: np.random.Generator) -> list[int]:
    """Divide a batch among several data sets in proportion, with random rounding."""
    ends = np.cumsum(np.array(weights, np.float64)) * (size / np.sum(weights))
    ends[-1] = size
    return [int(n) for n in np.diff(np.floor(ends + rng.random()), prepend=0)]
