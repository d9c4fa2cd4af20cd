"""The gate: matches of a candidate against the best network, and the decision."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator, as_evaluator
from pyengine.games.game import Game
from pyengine.match import MatchInterrupted, MatchResult, Openings, match
from pyengine.match.openings import Book
from pyengine.match.statistics import SprtState
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.train.loop.run_configs import GateConfig

_LOOK_SECONDS = 0.1  # between checks of the stop request


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """The result of a candidate's match, from the candidate's perspective."""

    accepted: bool  #: whether the candidate becomes the best network
    complete: bool  #: whether the match was finished; otherwise nothing is decided
    wins: int
    draws: int  #: includes games cut short by ``max_plies``
    losses: int
    sprt: SprtState | None = None  #: state of the sequential test

    @property
    def games(self) -> int:
        """Number of finished games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game, in [0, 1]; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan


def _never() -> bool:
    return False


def play_gate(
    candidate: Evaluator | str | Path,
    best: Evaluator | str | Path,
    games: Sequence[Game],
    config: GateConfig,
    *,
    best_simulations: int | None = None,
    seed: int = 0,
    max_plies: int | None = None,
    stop: Callable[[], bool] = _never,
    on_progress: Callable[[MatchResult], object] | None = None,
    record: Path | None = None,
) -> GateResult:
    """Play a candidate's match and decide. It ends as soon as the candidate can no longer pass.

    By score, a passing candidate has played all its games. Its score is still too high because of
    selection: with 200 games an equal candidate passes at 55 % with probability 7 % and seems to be
    about 45 Elo stronger; after a sequential test, which ends early, even more. Only "latest" mode
    does not select. A candidate undecided by a sequential test after all games is rejected.

    Args:
        candidate, best: evaluators, or names or files of networks.
        games: one match is played for each; they share the number of games. A sequential test
            supports one game.
        config: see :class:`GateConfig`.
        best_simulations: of the best player, if not those of ``config``.
        seed: for the openings.
        max_plies: see :func:`~pyengine.match`.
        stop: called after each round of moves, and by a thread during it; True interrupts.
        on_progress: called after each round with the result of the current match.
        record: prefix of the files with finished games, from which an interrupted match resumes.

    Raises ConfigError for a sequential test of several games.

    """
    if config.sprt is not None and len(games) > 1:
        raise ConfigError(f'games: expected one game for method "sprt", got {len(games)}')
    prefix = None if record is None else path_of("record", record)
    players = as_evaluator(candidate), as_evaluator(best)
    search = config.search_config()
    searches = search, search.replace(simulations=best_simulations or search.simulations)
    share, rest = divmod(config.most_games, len(games))
    results: list[MatchResult] = []
    complete = True
    for number, game in enumerate(games):
        count = share + (number < rest)
        if count == 0 or not complete or _decided(results, config):
            break

        def proceed(result: MatchResult) -> bool:
            if on_progress is not None:
                on_progress(result)
            return not stop() and not _decided([*results, result], config)

        file = None if prefix is None else prefix.with_name(f"{prefix.name}-{number}.jsonl")
        with _sides(players, game, searches, stop) as sides:
            results.append(_match(sides, count, config, seed, max_plies, file, proceed))
        complete = results[-1].games == count or not stop()
    wins, draws, losses = _totals(results)
    return GateResult(
        accepted=complete and _accepted(results, config),
        complete=complete,
        wins=wins,
        draws=draws,
        losses=losses,
        sprt=results[-1].sprt if results else None,
    )


class _InterruptibleEngine(Engine):
    """A player whose search can be cut short, which interrupts the match."""

    def __init__(
        self, game: Game, evaluator: Evaluator, config: SearchConfig, stop: Callable[[], bool]
    ) -> None:
        super().__init__(game, evaluator, config=config)
        self.stop_requested = stop

    def search_many(self, states: Sequence[Any], **settings: Any) -> list[SearchResult]:
        """Search. Raises KeyboardInterrupt if stopped, since the moves are then worthless."""
        results = super().search_many(states, **settings)
        if self.stop_requested():
            raise KeyboardInterrupt
        return results


@contextmanager
def _sides(
    players: tuple[Evaluator, Evaluator],
    game: Game,
    searches: tuple[SearchConfig, SearchConfig],
    stop: Callable[[], bool],
) -> Iterator[tuple[_InterruptibleEngine, _InterruptibleEngine]]:
    """Open the players and poll ``stop`` while they search, since a round may take minutes."""
    over = threading.Event()
    with (
        _InterruptibleEngine(game, players[0], searches[0], stop) as a,
        _InterruptibleEngine(game, players[1], searches[1], stop) as b,
    ):

        def watch() -> None:
            while not over.wait(_LOOK_SECONDS):
                if stop():
                    a.stop()
                    b.stop()

        watcher = threading.Thread(target=watch, name="pyengine-gate", daemon=True)
        watcher.start()
        try:
            yield a, b
        finally:
            over.set()
            watcher.join()


def _match(
    sides: tuple[_InterruptibleEngine, _InterruptibleEngine],
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
        if sides[0].stop_requested():
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


def _totals(results: Sequence[MatchResult]) -> tuple[int, int, int]:
    """Return wins, draws and losses."""
    return (
        sum(result.wins for result in results),
        sum(result.draws for result in results),
        sum(result.losses for result in results),
    )


def _decided(results: Sequence[MatchResult], config: GateConfig) -> bool:
    """Whether the remaining games can be skipped."""
    if config.method == "sprt":
        return any(result.sprt is not None and result.sprt.accepted for result in results)
    if config.mode == "latest":  # all games are needed for the curve
        return False
    _, draws, losses = _totals(results)
    return config.most_games - losses - draws / 2 <= config.threshold * config.most_games


def _accepted(results: Sequence[MatchResult], config: GateConfig) -> bool:
    if config.mode == "latest":
        return True
    if config.method == "sprt":
        return any(result.sprt is not None and result.sprt.accepted == "elo1" for result in results)
    wins, draws, _ = _totals(results)
    return wins + draws / 2 > config.threshold * config.most_games
