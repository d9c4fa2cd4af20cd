"""The gate: games of a candidate against the best network, and whether it takes its place."""

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

_LOOK_SECONDS = 0.1  # between two looks at whether to stop


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """The result of a candidate's match; Elo and score are its own against the other.

    Attributes:
        accepted: whether the candidate becomes the best network.
        complete: whether it was played to its end; otherwise nothing is decided.
        games: that were finished.
        wins: of the candidate.
        draws: games that nobody won, including those that ``max_plies`` cut short.
        losses: of the candidate.
        score: in [0, 1].
        elo: of the score, with half a point added on both sides so that it is finite.
        elo_low: lower end of the interval of 95 %; None = minus infinity.
        elo_high: upper end; None = infinity.
        sprt: how far the sequential test came, and how many games are expected of it; None without
            one.
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
    """Play a candidate's match and decide. It ends as soon as the candidate cannot pass any more.

    By score, a candidate that passes has played all its games. Its Elo is still too high, since it
    was chosen for it: of 200 games an equal passes at 55 % with 7 % probability, and is credited
    some 45 Elo; by a sequential test, which ends early, more. Only "latest" mode selects nothing.
    A candidate that a sequential test has not decided after all games is rejected.

    Args:
        candidate, best: evaluators, or their names.
        games: they share the matches' games, one match each. A sequential test takes one game.
        config: see :class:`GateConfig`.
        seed: of the openings.
        max_plies: of a game, see :func:`~pyengine.match`.
        stop: called after each round of moves, and by a thread during it; True interrupts.
        on_progress: called with the result of the match that is played, after each round.
        record: start of the files that keep finished games: an interrupted match goes on.

    Raises ConfigError for a sequential test of several games.

    """
    if config.sprt is not None and len(games) > 1:
        raise ConfigError(f'games: expected one game for method "sprt", got {len(games)}')
    start = None if record is None else path_of("record", record)
    evaluators = (as_evaluator(_name(candidate)), as_evaluator(_name(best)))
    each, rest = divmod(config.most_games, len(games))
    counts = [each + (number < rest) for number in range(len(games))]
    results: list[MatchResult] = []
    interrupted = False
    for number, (game, count) in enumerate(zip(games, counts, strict=True)):
        if count == 0 or interrupted or _decided(results, counts, config):
            continue

        def go_on(result: MatchResult) -> bool:
            if on_progress is not None:
                on_progress(result)
            if stop is not None and stop():
                return False
            return not _decided([*results, result], counts, config)

        file = None if start is None else start.with_name(f"{start.name}-{number}.jsonl")
        with _sides(evaluators, game, config, stop) as sides:
            result = _match(sides, count, config, seed, max_plies, file, go_on)
        results.append(result)
        interrupted = stop is not None and stop() and result.games < count
    return _result(results, counts, config, interrupted)


def _name(given: Evaluator | str | Path) -> Any:
    return str(given) if isinstance(given, Path) else given


class _Side(Engine):
    """A player whose search may be cut short, which interrupts the match."""

    asked: Callable[[], bool] | None = None  #: whether to stop

    @property
    def stopping(self) -> bool:
        return self.asked is not None and self.asked()

    def search_many(self, states: Sequence[Any], **settings: Any) -> list[SearchResult]:
        """Search. Raises KeyboardInterrupt when it is to stop: its moves are worthless then."""
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
    """Open the players, and poll ``stop`` while they search: a round of moves may take minutes."""
    over, search = threading.Event(), config.search_config()
    with (
        _Side(game, evaluators[0], config=search) as a,
        _Side(game, evaluators[1], config=search) as b,
    ):
        a.asked = b.asked = stop

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
    """Play one match, or a part of it if it is to stop."""
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
    """Return how many random moves leave the game open."""
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
    """Whether the rest of the games need not be played."""
    if config.method == "sprt":
        return any(result.sprt is not None and result.sprt.accepted for result in results)
    if config.mode == "latest":  # the games are for the curve
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
    """Return the interval of the Elo over all matches; their pairs are the samples."""
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
