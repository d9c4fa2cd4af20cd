"""Budgets of equal cost: how many simulations of one setting cost as much as those of another.

The cost is the processor time of a move in a match of the two settings. One player of this match
searches each position with both settings, so that the times are paired, and plays their moves in
turns. As in the match itself, each engine sees every second ply of many concurrent games, and its
cache holds what it saw before. The ratio is saved beside the record, so that a resumed match has
the same budgets; other settings or another network are measured again.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import Engine, State
from pyengine.base.files import replacing
from pyengine.match.identity import identity_of

if TYPE_CHECKING or __package__:
    from .matches import Progress
else:  # run as a script
    from matches import Progress

if TYPE_CHECKING:
    from .contests import Contest

GAMES = 64  # of the match that is timed


@dataclass(frozen=True)
class Cost:
    """The cost of our setting relative to the other's, at equal simulations.

    Attributes:
        ratio: processor time of all our searches, relative to all of the other's.
        median: median of the ratios of the rounds.
        rounds: number of paired times; each is a search of all games in which it is our turn.
    """

    ratio: float
    median: float
    rounds: int


class Paired:
    """A player that searches with two engines, records their times and plays their moves in turns.

    Attributes:
        times: processor seconds of both engines, by round.
    """

    identity = "two engines in turns"

    def __init__(self, ours: Engine, other: Engine) -> None:
        """Use two open engines."""
        self._engines = (ours, other)
        self.times: list[tuple[float, float]] = []

    def search_many(self, states: Sequence[State]) -> list[Any]:
        """Search all states with both engines; the one that goes first alternates."""
        first = len(self.times) % 2
        answers: dict[int, list[Any]] = {}
        seconds = [0.0, 0.0]
        for side in (first, 1 - first):
            begun = time.process_time()
            answers[side] = self._engines[side].search_many(states)
            seconds[side] = time.process_time() - begun
        self.times.append((seconds[0], seconds[1]))
        return answers[first]


def measured(contest: Contest, games: int) -> Cost:
    """Play a match of the other setting against both, and return the ratio of their times."""
    game = pyengine.load_game(contest.game)
    assert contest.other is not None
    progress = Progress(f"{contest.name}: cost", games)
    with (
        Engine(game, contest.evaluator, **contest.ours) as ours,
        Engine(game, contest.evaluator, **contest.other) as other,
        Engine(game, contest.evaluator, **contest.other) as opponent,
    ):
        player = Paired(ours, other)
        pyengine.match(
            player,
            opponent,
            games=games,
            openings=contest.openings,
            concurrent_games=contest.concurrent,
            on_progress=progress,
        )
    progress.close()
    return cost_of(player.times)


def cost_of(times: Sequence[tuple[float, float]]) -> Cost:
    """Return the cost for paired times of rounds."""
    ours, other = (sum(side) for side in zip(*times, strict=True))
    each = [a / b for a, b in times if b > 0]
    return Cost(ours / other, statistics.median(each), len(each))


def _file_of(record: Path) -> Path:
    return record.with_suffix(".cost.json")


def _sides(contest: Contest) -> list[Any]:
    """Return the identities of both settings at equal simulations."""
    sides = []
    for settings in (contest.ours, contest.other or {}):
        with Engine(contest.game, contest.evaluator, **settings) as engine:
            sides.append(identity_of(engine))
    return sides


def load(contest: Contest, record: Path) -> Cost | None:
    """Return the cost of a contest that is saved beside its record, or None."""
    file = _file_of(record)
    if not file.exists():
        return None
    fields = json.loads(file.read_text("utf-8"))
    return Cost(**fields["cost"]) if fields.get("sides") == _sides(contest) else None


def saved(contest: Contest, record: Path | None, games: int = GAMES) -> Cost:
    """Return the cost saved beside a record, or measure and save it."""
    if record is None:
        return measured(contest, games)
    cost = load(contest, record)
    if cost is None:
        cost = measured(contest, games)
        fields = {"cost": vars(cost), "sides": _sides(contest)}
        with replacing(_file_of(record)) as temporary:
            temporary.write_text(json.dumps(fields) + "\n", "utf-8")
    return cost
