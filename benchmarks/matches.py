"""Code shared by the match suites: selection of rows, records, progress and columns."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyengine import MatchResult
from pyengine.match import Openings

if TYPE_CHECKING or __package__:
    from . import common
    from .common import check
    from .intervals import Interval
else:  # run as a script
    import common
    from common import check
    from intervals import Interval

OPENING_PLIES = {"connect_four": 6}  # 4 in other games
TELL_EVERY = 30.0  # seconds between lines if stderr is not a terminal


@dataclass(frozen=True)
class Wanted:
    """Selection of the matches to play.

    Attributes:
        records: folder where matches are saved and resumed from. None = do not save.
        only: a row runs if its name contains all these words.
        games: games per match, instead of the suite's number.
    """

    records: Path | None = None
    only: tuple[str, ...] = ()
    games: int | None = None

    @classmethod
    def by_default(cls) -> Wanted:
        """Return the default plan. ``PYENGINE_RECORDS`` names the folder of records."""
        folder = os.environ.get("PYENGINE_RECORDS")
        return cls(records=Path(folder) if folder else None)

    def has(self, name: str) -> bool:
        """Return whether a row runs."""
        return all(word in name for word in self.only)

    def record(self, name: str) -> Path | None:
        """Return the file of a row's match. Creates the folder."""
        if self.records is None:
            return None
        self.records.mkdir(parents=True, exist_ok=True)
        return self.records / (name.replace("/", "-").replace(",", "-") + ".jsonl")

    @property
    def kept(self) -> str:
        """Describe where the records are, for a note."""
        return str(self.records or "nowhere (--records, PYENGINE_RECORDS)")


class Progress:
    """Report a match's progress on stderr: in place on a terminal, otherwise an occasional line."""

    def __init__(self, name: str, games: int) -> None:
        """Start counting."""
        self._name = name
        self._games = games
        self._told = time.monotonic()

    def __call__(self, result: MatchResult) -> None:
        """Show the progress of the match."""
        line = f"{self._name}: {result.games}/{self._games} games, score {result.score:.1%}"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._told >= TELL_EVERY:
            self._told = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line."""
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def balanced_openings(game: str, evaluator: Any) -> Openings:
    """Return varied openings that a short search with a network considers balanced."""
    return Openings(
        plies=OPENING_PLIES.get(game, 4), evaluator=evaluator, max_value=0.5, simulations=100
    )


def percent(result: MatchResult) -> Interval:
    """Return the interval of the score in percent."""
    low, high = result.score_interval
    return Interval(round(100 * low, 2), round(100 * high, 2), result.confidence)


def games_of(result: MatchResult) -> dict[str, Any]:
    """Return the columns of the games, from the first player's perspective."""
    check("every game has a result", result.wins + result.draws + result.losses == result.games)
    return {
        "games": result.games,
        "won": result.wins,
        "drawn": result.draws,
        "lost": result.losses,
    }


def score_of(result: MatchResult) -> dict[str, Any]:
    """Return the columns of the score, with its interval."""
    return {
        "score %": round(100 * result.score, 2),
        **percent(result).columns(),
        "Elo": float(result.elo),
    }


def main(name: str, description: str, run: Callable[..., None], arguments: list[str] | None) -> int:
    """Run a match suite from the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--records", type=Path, metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--games", type=int)
    known, rest = parser.parse_known_args(arguments)
    records = known.records or Wanted.by_default().records
    wanted = Wanted(records, tuple(known.only), known.games)
    described = f"{description}. Also: {parser.format_usage().removeprefix('usage: ').strip()}"
    return common.main(name, described, functools.partial(run, wanted=wanted), rest)
