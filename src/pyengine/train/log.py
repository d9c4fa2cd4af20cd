"""Reports of the training, and their log."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.train.configs import LossConfig
from pyengine.train.json_files import append_line, writing
from pyengine.train.loss import AUXILIARY, Losses

_LOSSES = tuple(loss.name for loss in fields(Losses))


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


class RunningLosses:
    """The losses of the steps since the last report, and the duration of these steps.

    They stay on the device until they are needed, since reading them waits for it.
    """

    def __init__(self) -> None:
        self._unread: list[torch.Tensor] = []
        self._rows = torch.zeros(0, len(_LOSSES))
        self.seconds = 0.0

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._rows) + len(self._unread)

    def add(self, losses: Losses) -> None:
        """Add a step."""
        self._unread.append(torch.stack([getattr(losses, name).detach() for name in _LOSSES]))

    def _read(self) -> torch.Tensor:
        """Return the losses [steps,losses], after waiting for the device."""
        if self._unread:
            self._rows = torch.cat([self._rows, torch.stack(self._unread).cpu()])
            self._unread = []
        return self._rows

    def first_not_finite(self) -> tuple[int, dict[str, float]] | None:
        """Return the number and the losses of the first step whose total is not finite."""
        rows = self._read()
        bad = (~torch.isfinite(rows[:, _LOSSES.index("total")])).nonzero().flatten().tolist()
        if not bad:
            return None
        return bad[0], dict(zip(_LOSSES, rows[bad[0]].tolist(), strict=True))

    def report(self, step: int, rate: float, batch_size: int, config: LossConfig) -> StepReport:
        """Return the means of the losses that are learned, after at least one step."""
        means = dict(zip(_LOSSES, self._read().mean(dim=0).tolist(), strict=True))
        del means["total"]
        for name in AUXILIARY:
            if getattr(config, f"{name}_weight") == 0:
                del means[name]
        return StepReport(
            step=step,
            rate=rate,
            positions_per_second=len(self) * batch_size / max(self.seconds, 1e-9),
            **means,
        )


class TrainLog:
    """Writes ``log.jsonl``, and scalars for TensorBoard if it is installed. Raises DataError."""

    def __init__(self, directory: Path) -> None:
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "log.jsonl"
        self._board: Any = None
        if importlib.util.find_spec("tensorboard") is not None:
            tensorboard = importlib.import_module("torch.utils.tensorboard")
            self._board = tensorboard.SummaryWriter(str(directory / "tensorboard"))

    def add(self, report: StepReport) -> None:
        """Write a report, without the losses that are not learned."""
        values = {name: value for name, value in asdict(report).items() if value is not None}
        append_line(self._path, {"time": time.time(), **values})
        if self._board is not None:
            for name, value in values.items():
                if name != "step":
                    self._board.add_scalar(f"train/{name}", value, report.step)

    def close(self) -> None:
        if self._board is not None:
            self._board.close()
