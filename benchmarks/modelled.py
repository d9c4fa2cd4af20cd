"""An accelerator that this machine does not have: it takes time, and no processor time."""

from __future__ import annotations

from typing import Any

import pyengine
from pyengine import ModelSpec, _core


def planes_of(game: pyengine.Game) -> ModelSpec:
    """Return AlphaGo Zero's 17 planes in Go, else the default three."""
    return ModelSpec.alphago_zero(game) if game.name == "go" else ModelSpec()


class ModelledDevice(pyengine.Evaluator):
    """A network on a modelled device. Planes, symmetries, padding, decoding and cache are real.

    A batch takes ``latency + per_row * rows`` seconds, padding included, on one of ``streams``,
    during which its feeder sleeps. Policy and value are random numbers that are a function of the
    first two planes, or equal priors and 0 when ``uniform``.

    Args:
        latency, per_row: seconds.
        streams: batches in service at once. The search serves them with one thread more, so that
            the device has its next batch before it is done. 0 = no device: a worker evaluates its
            batch itself, in that time.
        devices: like this one, which share the batches.
        uniform: see above.
        buckets: whether batches are padded to the sizes that a GPU's are.
        spec: how it reads a position; None = ``ModelSpec()``.

    Raises ConfigError when an argument is out of range.
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
        """Return the most rows a second in batches of ``batch``."""
        return self.streams * batch / (self.latency + self.per_row * batch)

    def counters(self) -> dict[str, Any]:
        """Return ``batches``, ``rows``, ``padding``; seconds ``busy`` and ``late`` so far.

        Of all devices together. ``busy`` is the time in service, summed over streams; ``late`` is
        that between the ends of batches and their feeders' awakening.
        """
        each = [device.counters() for device in self._devices]
        return {name: sum(counters[name] for counters in each) for name in each[0]}
