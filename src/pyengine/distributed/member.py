"""A place in the crew: who is there, what it was asked, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyengine.distributed.actor import Reply
from pyengine.distributed.policy import Meter, Seat
from pyengine.distributed.workers import Actor, Question


@dataclass(eq=False)
class Member:
    """A place, and the actor that is there now."""

    place: Seat
    meter: Meter
    games: int = 0  #: delivered by all who were here
    actor: Actor = None  #: None: nobody
    sender: str = ""  #: a name of this actor alone
    question: Question = None  #: that it has not answered yet
    asked: float = 0.0  #: when
    reply: Reply | None = None  #: its last one
    silences: int = 0  #: questions in a row that got no answer, or a damaged one

    def comes(self, actor: Actor, sender: str, now: float) -> None:
        """Somebody takes the place."""
        self.actor, self.sender, self.meter = actor, sender, Meter(now)

    def leaves(self) -> None:
        """There is nobody any more."""
        self.actor, self.question, self.reply, self.silences = None, None, None, 0

    def is_asked(self, question: Question, now: float) -> None:
        """It has to answer."""
        self.question, self.asked = question, now

    def hangs(self, now: float, seconds: float) -> bool:
        """Whether it owes an answer for so long. One that has not begun may wait for its place."""
        return self.question is not None and self.reply is not None and now - self.asked > seconds

    def knows(self, network: str) -> bool:
        """Whether it has the file of a network."""
        return self.reply is not None and self.reply.network == network

    def state(self, now: float) -> str:
        """Return what it is doing, for people."""
        if self.actor is None:
            wait = self.place.not_before - now
            return f"again in {wait:.0f} s" if wait > 0 else "ended"
        return "starts" if self.reply is None else self.reply.state

    def told(self, now: float) -> dict[str, Any]:
        """Return the fields of an :class:`~pyengine.train.loop.run.ActorProgress`."""
        return {
            "name": self.place.name,
            "node": "" if self.reply is None else self.reply.node,
            "pid": None if self.reply is None else self.reply.pid,
            "state": self.state(now),
            "games": self.games,
            "positions_per_second": self.meter.rate(now) if self.actor is not None else 0.0,
            "deaths": self.place.deaths,
        }
