"""The gate: matches of a candidate against the best network, and the decision."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator, as_evaluator
from pyengine.games.game import Game
from pyengine.match import MatchInterrupted, MatchResult, Openings, match
from pyengine.match.interval import score_interval
from pyengine.match.openings import Book
from pyengine.match.statistics import SprtState, elo_of_score
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.train.loop.run_configs import GateConfig

_LOOK_SECONDS = 0.1  # between checks of the stop request


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """The result of a candidate's match, from the candidate's perspective.

    Attributes:
        accepted: whether the candidate becomes the best network.
        complete: whether the match was finished; otherwise nothing is decided.
        games: number of finished games.
        draws: includes games cut short by ``max_plies``.
        score: in [0, 1].
        elo: from the score, with half a point added for each player to keep it finite.
        elo_low: lower end of the 95 % interval; None = minus infinity.
        elo_high: upper end; None = infinity.
        sprt: state of the sequential test and its expected number of games; None without one.
    """

    accepted: bool
    complete: bool
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    elo: float
    elo_low: float | None
    elo_high: float | None
    sprt: SprtState | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return asdict(self)


def play_gate(
    candidate: Evaluator | str | Path,
    best: Evaluator | str | Path,
    games: Sequence[Game],
    config: GateConfig,
    *,
    seed: int = 0,
    max_plies: int | None = None,
    stop: Callable[[], bool] | None = None,
    on_progress: Callable[[MatchResult], object] | None = None,
    record: Path | None = None,
) -> GateResult:
    """Play a candidate's match and decide. It ends as soon as the candidate can no longer pass.

    By score, a passing candidate has played all its games. Its Elo is still too high because of
    selection: with 200 games an equal candidate passes at 55 % with probability 7 % and is credited
    about 45 Elo; a sequential test, which ends early, credits more. Only "latest" mode does not
    select. A candidate undecided by a sequential test after all games is rejected.

    Args:
        candidate, best: evaluators, or their names.
        games: one match is played for each; they share the number of games. A sequential test
            supports one game.
        config: see :class:`GateConfig`.
        seed: for the openings.
        max_plies: see :func:`~pyengine.match`.
        stop: called after each round of moves, and by a thread during it; True interrupts.
        on_progress: called after each round with the result of the current match.
        record: prefix of the files with finished games, from which an interrupted match resumes.

    Raises ConfigError for a sequential test of several games.

    """
    if config.sprt is not None and len(games) > 1:
        raise ConfigError(f'games: expected one game for method "sprt", got {len(games)}')
    start = None if record is None else path_of("record", record)
    evaluators = (as_evaluator(_name(candidate)), as_evaluator(_name(best)))
    share, rest = divmod(config.most_games, len(games))
    counts = [share + (number < rest) for number in range(len(games))]
    results: list[MatchResult] = []
    interrupted = False
    for number, (game, count) in enumerate(zip(games, counts, strict=True)):
        if count == 0 or interrupted or _decided(results, counts, config):
            continue

        def proceed(result: MatchResult) -> bool:
            if on_progress is not None:
                on_progress(result)
            if stop is not None and stop():
                return False
            return not _decided([*results, result], counts, config)

        file = None if start is None else start.with_name(f"{start.name}-{number}.jsonl")
        with _sides(evaluators, game, config, stop) as sides:
            result = _match(sides, count, config, seed, max_plies, file, proceed)
        results.append(result)
        interrupted = stop is not None and stop() and result.games < count
    return _result(results, counts, config, interrupted)


def _name(player: Evaluator | str | Path) -> Any:
    return str(player) if isinstance(player, Path) else player


class _Side(Engine):
    """A player whose search can be cut short, which interrupts the match."""

    stop_requested: Callable[[], bool] | None = None  #: returns whether to stop

    @property
    def stopping(self) -> bool:
        return self.stop_requested is not None and self.stop_requested()

    def search_many(self, states: Sequence[Any], **settings: Any) -> list[SearchResult]:
        """Search. Raises KeyboardInterrupt if stopped, since the moves are then worthless."""
        results = super().search_many(states, **settings)
        if self.stopping:
            raise KeyboardInterrupt
        return results


@contextmanager
def _sides(
    evaluators: tuple[Evaluator, Evaluator],
    game: Game,
    config: GateConfig,
    stop: Callable[[], bool] | None,
) -> Iterator[tuple[_Side, _Side]]:
    """Open the players and poll ``stop`` while they search, since a round may take minutes."""
    over, search = threading.Event(), config.search_config()
    with (
        _Side(game, evaluators[0], config=search) as a,
        _Side(game, evaluators[1], config=search) as b,
    ):
        a.stop_requested = b.stop_requested = stop

        def watch() -> None:
            while not over.wait(_LOOK_SECONDS):
                for side in (a, b):
                    if side.stopping:
                        side.stop()

        watcher = threading.Thread(target=watch, name="pyengine-gate", daemon=True)
        watcher.start()
        try:
            yield a, b
        finally:
            over.set()
            watcher.join()


def _match(
    sides: tuple[_Side, _Side],
    games: int,
    config: GateConfig,
    seed: int,
    max_plies: int | None,
    record: Path | None,
    on_progress: Callable[[MatchResult], bool],
) -> MatchResult:
    """Play a match, or part of it if stopped."""
    plies = config.plies if max_plies is None else min(config.plies, max_plies - 1)
    try:
        return match(
            *sides,
            games=games,
            seed=seed,
            openings=Openings(plies=_plies(sides[0].game, plies, seed)),
            sprt=config.sprt,
            max_plies=max_plies,
            record=record,
            names=("candidate", "best"),
            on_progress=on_progress,
        )
    except MatchInterrupted as end:
        if sides[0].stopping:
            return end.result
        raise


def _plies(game: Game, most: int, seed: int) -> int:
    """Return how many random moves leave the game undecided."""
    for plies in range(most, 0, -1):
        try:
            Book(game, Openings(plies=plies), seed).opening(0)
        except ConfigError:
            continue
        return plies
    return 0


def _totals(results: Sequence[MatchResult]) -> tuple[int, ...]:
    """Return wins, draws and losses."""
    counts = [(result.wins, result.draws, result.losses) for result in results]
    return tuple(map(sum, zip((0, 0, 0), *counts, strict=True)))


def _decided(results: Sequence[MatchResult], counts: Sequence[int], config: GateConfig) -> bool:
    """Whether the remaining games can be skipped."""
    if config.method == "sprt":
        return any(result.sprt is not None and result.sprt.accepted for result in results)
    if config.mode == "latest":  # all games are needed for the curve
        return False
    _, draws, losses = _totals(results)
    return sum(counts) - losses - draws / 2 <= config.threshold * sum(counts)


def _result(
    results: Sequence[MatchResult], counts: Sequence[int], config: GateConfig, interrupted: bool
) -> GateResult:
    wins, draws, losses = _totals(results)
    played = wins + draws + losses
    points = wins + draws / 2
    score = points / played if played else math.nan
    tests = [result.sprt for result in results if result.sprt is not None]
    if config.mode == "latest":
        accepted = True
    elif config.method == "sprt":
        accepted = any(test.accepted == "elo1" for test in tests)
    else:
        accepted = points > config.threshold * sum(counts)
    low, high = _interval(results)
    return GateResult(
        accepted=accepted and not interrupted,
        complete=not interrupted,
        games=played,
        wins=wins,
        draws=draws,
        losses=losses,
        score=score,
        elo=elo_of_score((points + 0.5) / (played + 1)),
        elo_low=low,
        elo_high=high,
        sprt=tests[-1] if tests else None,
    )


def _interval(results: Sequence[MatchResult]) -> tuple[float | None, float | None]:
    """Return the Elo interval over all matches, with their pairs of games as samples."""
    groups: list[list[float]] = []
    for result in results:
        pairs: dict[int, list[float]] = {}
        for record in result.records:
            pairs.setdefault(record.pair, []).append((record.result + 1) / 2)
        groups += pairs.values()
    low, high = score_interval([sum(g) for g in groups], [len(g) for g in groups])
    ends = [elo_of_score(end) for end in (low, high)]
    finite = [end if math.isfinite(end) else None for end in ends]
    return finite[0], finite[1]
