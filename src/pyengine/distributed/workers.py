"""The actors of a crew: the interface to a cluster, and the driver's view of each actor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pyengine.distributed.actor import Contract, Order, Reply
from pyengine.errors import EngineError
from pyengine.train.loop.meter import Meter

_BACKOFF = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # seconds before a restart
_ROUNDING = 1e-6  # of sums of GPU fractions

Actor: TypeAlias = Any  #: the cluster's handle of an actor
Call: TypeAlias = Any  #: a pending call; hashable


class LostError(EngineError):
    """An actor has died (``gone``) or does not answer."""

    def __init__(self, message: str, *, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class Workers(Protocol):
    """A cluster: starts, calls and ends actors."""

    def room(self) -> int:
        """Return the number of actors that fit, including those that run."""

    def start(self, contract: Contract) -> Actor:
        """Start an actor without waiting for it."""

    def publish(self, data: bytes) -> Any:
        """Return a reference to data for a call; the data lives as long as the reference."""

    def ask(self, actor: Actor, order: Order, network: Any) -> Call:
        """Call ``exchange`` without waiting. ``network``: a reference from ``publish``, or None."""

    def answered(self, calls: Sequence[Call], seconds: float) -> list[Call]:
        """Wait for an answer and return the calls that have one."""

    def answer(self, call: Call) -> Reply:
        """Return the answer of a call. Raises LostError."""

    def end(self, actor: Actor) -> None:
        """Kill an actor."""


def room(
    nodes: Mapping[str, Mapping[str, float]],
    need: Mapping[str, float],
    reserved: Mapping[str, Mapping[str, float]],
) -> int:
    """Return the number of actors that fit on the nodes.

    Args:
        nodes: resources by node.
        need: resources of an actor.
        reserved: resources by node that other parts of the run need.

    """
    count = 0
    for node, has in nodes.items():
        taken = reserved.get(node, {})
        free = [
            (has.get(name, 0.0) - taken.get(name, 0.0)) / amount
            for name, amount in need.items()
            if amount > 0
        ]
        count += max(0, int(min(free) + _ROUNDING)) if free else 0
    return count


@dataclass(eq=False)
class Member:
    """A seat in the crew: its current actor, and the failures of that and its predecessors."""

    name: str
    meter: Meter
    games: int = 0  #: delivered by all actors
    deaths: int = 0
    failures: int = 0  #: deaths since the last delivery
    not_before: float = 0.0  #: earliest restart, by the caller's clock
    error: str = ""  #: message of the last death
    actor: Actor = None  #: None: no actor
    sender: str = ""  #: unique name of the actor
    call: Call = None  #: pending call
    called: float = 0.0  #: time of the pending call
    reply: Reply | None = None  #: the last reply
    silences: int = 0  #: consecutive calls without a usable answer

    def assign(self, actor: Actor, sender: str, now: float) -> None:
        self.actor, self.sender, self.meter = actor, sender, Meter(now)

    def vacate(self) -> None:
        self.actor, self.call, self.reply, self.silences = None, None, None, 0

    def set_call(self, call: Call, now: float) -> None:
        self.call, self.called = call, now

    def delivered(self, games: int, positions: int, now: float) -> None:
        """Record a delivery, which resets the failures."""
        self.games += games
        self.meter.add(now, positions)
        self.failures = 0

    def died(self, now: float, error: str) -> None:
        """Record a death. The delay of the restart grows with the number of failures."""
        self.not_before = now + _BACKOFF[min(self.failures, len(_BACKOFF) - 1)]
        self.deaths += 1
        self.failures += 1
        self.error = error

    def hangs(self, now: float, seconds: float) -> bool:
        """Whether a call is overdue; an actor that has not started may still wait for room."""
        return self.call is not None and self.reply is not None and now - self.called > seconds

    def knows(self, network: str) -> bool:
        return self.reply is not None and self.reply.network == network

    def state(self, now: float) -> str:
        """Return the state for display."""
        if self.actor is None:
            wait = self.not_before - now
            return f"again in {wait:.0f} s" if wait > 0 else "ended"
        return "starts" if self.reply is None else self.reply.state

    def progress(self, now: float) -> dict[str, Any]:
        """Return the fields of an :class:`~pyengine.train.loop.run.ActorProgress`."""
        return {
            "name": self.name,
            "node": "" if self.reply is None else self.reply.node,
            "pid": None if self.reply is None else self.reply.pid,
            "state": self.state(now),
            "games": self.games,
            "positions_per_second": self.meter.rate(now) if self.actor is not None else 0.0,
            "deaths": self.deaths,
        }
