"""Statistics of self-play."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfPlayReport:
    """Statistics of a self-play call."""

    games: int = 0  #: finished games
    positions: int = 0  #: recorded positions of finished games
    plies: int = 0  #: plies of finished games
    first_wins: int = 0  #: games won by the first player
    draws: int = 0
    resigned: int = 0  #: games that ended by resignation
    cut_short: int = 0  #: games ended by ``max_plies`` without a result; also count as draws
    open_games: int = 0  #: games that are not finished
    simulations: int = 0  #: of finished searches
    evaluations: int = 0  #: rows evaluated, without padding and cache hits
    batches: int = 0
    padding: int = 0  #: padding rows in batches
    cache_hits: int = 0  #: evaluations answered by the cache
    resign_threshold: float | None = None  #: now; None if resignation is off
    #: Recent games with resignation disabled, including those of earlier calls.
    played_on: int = 0
    #: Those of them in which a side that did not lose fell below the threshold.
    in_vain: int = 0
    waiting_seconds: float = 0.0  #: total idle time of the workers
    bytes: int = 0  #: memory of trees and cache
    #: How often the memory limit kept a node from being expanded. More than a few reduce the
    #: quality of the searches.
    memory_refusals: int = 0
    seconds: float = 0.0  #: wall time
    provider: str = "none"  #: execution provider of the evaluator
    shards: int = 0  #: closed shards in the directory

    @property
    def second_wins(self) -> int:
        """Games won by the second player."""
        return self.games - self.first_wins - self.draws

    @property
    def mean_length(self) -> float:
        """Mean number of plies per finished game."""
        return self.plies / max(1, self.games)

    @property
    def batch_fill(self) -> float:
        """Mean number of rows per batch, without padding."""
        return self.evaluations / max(1, self.batches)

    def per_second(self, count: str) -> float:
        """Return a count divided by the wall time."""
        return float(getattr(self, count)) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Return all counts and derived rates."""
        return dataclasses.asdict(self) | {
            "second_wins": self.second_wins,
            "mean_length": self.mean_length,
            "batch_fill": self.batch_fill,
            "games_per_second": self.per_second("games"),
            "positions_per_second": self.per_second("positions"),
            "evaluations_per_second": self.per_second("evaluations"),
        }

    def __str__(self) -> str:
        if not self.games:
            return f"no game finished in {self.seconds:.1f} s on {self.provider}"
        false = f", {self.in_vain} of {self.played_on} false" if self.played_on else ""
        cut = f"; {self.cut_short} cut short" if self.cut_short else ""
        refused = self.memory_refusals
        memory = f"; the memory limit was reached {refused} times" if refused else ""
        threshold = "off" if self.resign_threshold is None else f"{self.resign_threshold:.2f}"
        return (
            f"{self.games} games ({self.per_second('games'):.2f}/s), {self.positions} positions"
            f" ({self.per_second('positions'):.1f}/s)\n{self.evaluations} evaluations"
            f" ({self.per_second('evaluations'):.0f}/s, {self.batch_fill:.1f} per batch)\n"
            f"first player won {self.first_wins}, drew {self.draws}, lost {self.second_wins};"
            f" {self.mean_length:.1f} plies per game; resigned {self.resigned}"
            f" (below {threshold}{false}){cut}\n"
            f"{self.shards} shards, {self.seconds:.1f} s on {self.provider}{memory}"
        )
