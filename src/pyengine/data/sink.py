"""Where finished games go: a directory of shards, or whoever takes them elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from pyengine.data.record import FinishedGame

__all__ = ["GameSink"]


class GameSink(AbstractContextManager[Any], Protocol):
    """Takes finished games in; :class:`~pyengine.data.ShardWriter` is one. ``with`` closes it."""

    @property
    def games(self) -> int:
        """Games taken in so far."""

    @property
    def positions(self) -> int:
        """Their positions."""

    @property
    def next_number(self) -> int:
        """The number after the largest of a game."""

    def played_on(self) -> list[float]:
        """Return :attr:`FinishedGame.lowest` of the newest games that are known, oldest first."""

    def add(self, game: FinishedGame) -> None:
        """Take a game in; one whose addition raises may be added again."""

    def tick(self) -> None:
        """Do what is due; called every second or so."""

    def set_model(self, sha256: str) -> None:
        """Say which network plays from now on."""
