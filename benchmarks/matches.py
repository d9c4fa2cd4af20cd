"""Code shared by the match suites: selected rows, records, progress and columns."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyengine import ConfigError, MatchResult
from pyengine.base.locks import lock
from pyengine.match import GameRecord, Openings

if TYPE_CHECKING or __package__:
    from .common import Options, Report, check
    from .intervals import Interval
else:  # run as a script
    from common import Options, Report, check
    from intervals import Interval

OPENING_PLIES = {"connect_four": 6}  # 4 in other games
LINE_SECONDS = 30.0  # seconds between lines if stderr is not a terminal


def selects(options: Options, name: str) -> bool:
    """Return whether a row runs: its name contains all words of ``--only``."""
    return all(word in name for word in options.only)


def records_folder(options: Options) -> Path | None:
    """Return the folder where matches are saved and resumed from. None = do not save."""
    if options.quick:
        return None
    named = options.records or os.environ.get("PYENGINE_RECORDS")
    return Path(named) if named else None


def record_file(options: Options, name: str) -> Path | None:
    """Return the file of a row's match or proofs. Creates the folder."""
    folder = records_folder(options)
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / (name.replace("/", "-").replace(",", "-") + ".jsonl")


def where_recorded(options: Options) -> str:
    """Describe where the records are, for a note."""
    return str(records_folder(options) or "nowhere (--records, PYENGINE_RECORDS)")


@contextmanager
def reserved(report: Report, options: Options, name: str) -> Iterator[bool]:
    """Reserve a row with its record. If another process has it, add a note and yield False.

    A match locks its record only while it plays; this also covers files beside the record.
    """
    record = record_file(options, name)
    try:
        held = None if record is None else lock(record.with_suffix(".row.lock"))
    except ConfigError:
        report.notes.append(f"{name}: another process is measuring this row")
        yield False
        return
    try:
        yield True
    finally:
        if held is not None:
            held.release()


def recorded(record: Path) -> MatchResult:
    """Return the finished games of a record without continuing its match."""
    lines = record.read_text("utf-8").splitlines(keepends=True)[1:]  # without the header
    games = (GameRecord(**json.loads(line)) for line in lines if line.endswith("\n"))
    return MatchResult(names=("a", "b"), records=tuple(games))


class Progress:
    """Reports the progress of counted work on stderr, with the remaining time."""

    def __init__(self, name: str, total: int, unit: str = "games") -> None:
        """Start the clock."""
        self._name = name
        self._total = total
        self._unit = unit
        self._begun = self._last = time.monotonic()
        self._before: int | None = None

    def __call__(self, result: MatchResult) -> None:
        """Show the progress of a match."""
        self.show(result.games, f"score {result.score:.1%}" if result.games else "")

    def show(self, done: int, *details: str) -> None:
        """Show how much is done: in place on a terminal, otherwise an occasional line."""
        counted = f"{self._name}: {done}/{self._total} {self._unit}"
        line = ", ".join(filter(None, [counted, *details, self._left(done)]))
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def _left(self, done: int) -> str:
        """Estimate the remaining time from what was done since the first report."""
        if self._before is None:
            self._before = done
        if done <= self._before:
            return ""
        pace = (time.monotonic() - self._begun) / (done - self._before)
        return f"{pace * (self._total - done) / 60:.0f} min left"

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
    """Return the columns of the score, with its interval. JSON has no infinity: it becomes None."""
    elo = zip(("Elo", "Elo from", "Elo to"), (result.elo, *result.elo_interval), strict=True)
    return {
        "score %": round(100 * result.score, 2),
        **percent(result).columns(),
        **{title: round(value, 1) if math.isfinite(value) else None for title, value in elo},
    }
