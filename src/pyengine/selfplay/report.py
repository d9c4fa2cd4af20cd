"""What self-play has done so far: :class:`SelfPlayReport`."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfPlayReport:
    """Counts of a call of self-play; plain values.

    Attributes:
        games: that have ended.
        positions: of those games that were recorded.
        plies: of those games.
        first_wins: games that the first player won.
        draws: games that nobody won.
        resigned: games that ended by resignation.
        cut_short: games that ``max_plies`` ended without a result; they count as draws, too.
        open_games: begun and not over.
        simulations: of searches that have ended.
        evaluations: rows evaluated, without padding and cache hits.
        batches: of the evaluator.
        padding: rows of batches that no position needed.
        cache_hits: evaluations that the cache answered.
        resign_threshold: as it stands; None = nobody resigns.
        played_on: the newest games in which nobody could resign, of earlier calls, too.
        in_vain: those of them in which a side that did not lose was below the threshold.
        waiting_seconds: of workers with nothing to do, summed.
        bytes: held for trees and cache.
        memory_refusals: how often a node stayed without children because the memory limit was met;
            with more than a few the searches see less than their simulations could show.
        seconds: of wall time.
        provider: of the evaluator.
        shards: closed, in the directory.
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
        """Games that the second player won."""
        return self.games - self.first_wins - self.draws

    @property
    def mean_length(self) -> float:
        """Plies of a game that has ended."""
        return self.plies / max(1, self.games)

    @property
    def batch_fill(self) -> float:
        """Rows of a batch."""
        return self.evaluations / max(1, self.batches)

    def per_second(self, count: str) -> float:
        """Return one of the counts over the wall time."""
        return float(getattr(self, count)) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and what follows from them."""
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
        false = f", {self.in_vain} of {self.played_on} played on" if self.played_on else ""
        cut = f"; {self.cut_short} cut short" if self.cut_short else ""
        refused = self.memory_refusals
        memory = f"; the memory limit was met {refused} times" if refused else ""
        threshold = "off" if self.resign_threshold is None else f"{self.resign_threshold:.2f}"
        return (
            f"{self.games} games ({self.per_second('games'):.2f}/s), {self.positions} positions"
            f" ({self.per_second('positions'):.1f}/s)\n{self.evaluations} evaluations"
            f" ({self.per_second('evaluations'):.0f}/s, {self.batch_fill:.1f} a batch)\n"
            f"first player {self.first_wins}, drawn {self.draws}, second {self.second_wins};"
            f" {self.mean_length:.1f} plies a game; resigned {self.resigned}"
            f" (below {threshold}{false}){cut}\n"
            f"{self.shards} shards, {self.seconds:.1f} s on {self.provider}{memory}"
        )
