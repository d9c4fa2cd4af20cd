"""What the crew needs of a cluster. Ray is one; the tests have another in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from pyengine.distributed.actor import Contract, Order, Reply
from pyengine.errors import EngineError

Actor: TypeAlias = Any  #: of a cluster's own kind
Question: TypeAlias = Any  #: asked and perhaps not answered yet; hashable


class LostError(EngineError):
    """An actor is gone, or does not answer; ``gone`` says which."""

    def __init__(self, words: str, *, gone: bool) -> None:
        """Keep what is known of it."""
        super().__init__(words)
        self.gone = gone


class Workers(Protocol):
    """Starts actors somewhere, asks them, and ends them."""

    def room(self) -> int:
        """Return how many actors there is room for now, those that play included."""

    def start(self, contract: Contract) -> Actor:
        """Start a :class:`~pyengine.distributed.actor.Actor`; returns at once."""

    def publish(self, data: bytes) -> Any:
        """Return what stands for a file in a question; it stays as long as that is held."""

    def ask(self, actor: Actor, order: Order, network: Any) -> Question:
        """Call ``exchange``; returns at once. ``network``: what was published, or None."""

    def answered(self, questions: Sequence[Question], seconds: float) -> list[Question]:
        """Return those that have an answer, waiting for one."""

    def answer(self, question: Question) -> Reply:
        """Return an answer. Raises LostError."""

    def end(self, actor: Actor) -> None:
        """End an actor, whatever it is at."""
