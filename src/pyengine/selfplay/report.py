"""Statistics of self-play."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfPlayReport:
    """Statistics of a self-play call.

    Attributes:
        games: finished games.
        positions: recorded positions of finished games.
        plies: plies of finished games.
        first_wins: games won by the first player.
        draws: drawn games.
        resigned: games that ended by resignation.
        cut_short: games ended by ``max_plies`` without a result; these also count as draws.
        open_games: games that are not finished.
        simulations: simulations of finished searches.
        evaluations: rows evaluated, without padding and cache hits.
        batches: batches evaluated.
        padding: padding rows in batches.
        cache_hits: evaluations answered by the cache.
        resign_threshold: current threshold; None if resignation is off.
        played_on: number of recent games with resignation disabled, including earlier calls.
        in_vain: number of those games in which a side that did not lose fell below the threshold.
        waiting_seconds: total idle time of the workers.
        bytes: memory of trees and cache.
        memory_refusals: how often a node was not expanded because of the memory limit. More than a
            few reduce the quality of the searches.
        seconds: wall time.
        provider: execution provider of the evaluator.
        shards: closed shards in the directory.
    """

    games: int = 0
    positions: int = 0
    plies: int = 0
    first_wins: int = 0
    draws: int = 0
    resigned: int = 0
    cut_short: int = 0
    open_games: int = 0
    simulations: int = 0
    evaluations: int = 0
    batches: int = 0
    padding: int = 0
    cache_hits: int = 0
    resign_threshold: float | None = None
    played_on: int = 0
    in_vain: int = 0
    waiting_seconds: float = 0.0
    bytes: int = 0
    memory_refusals: int = 0
    seconds: float = 0.0
    provider: str = "none"
    shards: int = 0

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
            f"first player {self.first_wins}, drawn {self.draws}, second {self.second_wins};"
            f" {self.mean_length:.1f} plies per game; resigned {self.resigned}"
            f" (below {threshold}{false}){cut}\n"
            f"{self.shards} shards, {self.seconds:.1f} s on {self.provider}{memory}"
        )
