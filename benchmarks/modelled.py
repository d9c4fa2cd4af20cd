"""A simulated accelerator that takes wall-clock time but no processor time."""

from __future__ import annotations

from typing import Any

import pyengine
from pyengine import ModelSpec, _core
from pyengine.eval import Evaluator


def planes_of(game: pyengine.Game) -> ModelSpec:
    """Return AlphaGo Zero's 17 planes in Go, else the default three."""
    return ModelSpec.alphago_zero(game) if game.name == "go" else ModelSpec()


class ModelledDevice(Evaluator):
    """A network on a modelled device. Planes, symmetries, padding, decoding and cache are real.

    A batch, including padding, takes ``latency + per_row * rows`` seconds on one of ``streams``,
    while its feeder sleeps. Policy and value are pseudorandom functions of the first two planes,
    or equal priors and 0 if ``uniform``.

    Args:
        latency, per_row: seconds.
        streams: number of batches in service concurrently. The search uses one thread more, so
            that the device has its next batch before it finishes. 0 = no device: each worker
            evaluates its own batch, which takes the same time.
        devices: number of identical devices that share the batches.
        uniform: return equal priors and the value 0.
        buckets: pad batches to the sizes used on a GPU.
        spec: how the network reads a position. None = ``ModelSpec()``.

    Raises ConfigError if an argument is out of range.
    """

    def __init__(
        self,
        latency: float = 2e-3,
        per_row: float = 5e-6,
        *,
        streams: int = 2,
        devices: int = 1,
        uniform: bool = False,
        buckets: bool = True,
        spec: ModelSpec | None = None,
    ) -> None:
        self._devices = [
            _core.ModelledDevice(
                latency=latency,
                per_row=per_row,
                streams=streams,
                buckets=buckets,
                uniform=uniform,
            )
            for _ in range(devices)
        ]
        given = ModelSpec() if spec is None else spec
        super().__init__(_core.modelled_device_evaluator(self._devices, given), given)
        self.latency, self.per_row, self.streams = latency, per_row, devices * streams

    def capacity(self, batch: int) -> float:
        """Return the maximum rows per second in batches of ``batch``."""
        return self.streams * batch / (self.latency + self.per_row * batch)

    def counters(self) -> dict[str, Any]:
        """Return ``batches``, ``rows``, ``padding``, and the seconds ``busy`` and ``late`` so far.

        The numbers are totals over all devices. ``busy`` is the time in service, summed over
        streams. ``late`` is the time between the end of a batch and the wake-up of its feeder.
        """
        each = [device.counters() for device in self._devices]
        return {name: sum(counters[name] for counters in each) for name in each[0]}
