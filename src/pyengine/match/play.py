"""Matches of many concurrent games: :func:`match`."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pyengine.base.checks import (
    check_callback,
    check_type,
    elements,
    integer,
    number,
    repr_with_type,
)
from pyengine.errors import ConfigError
from pyengine.eval.bundled import load_or_wrap
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss
from pyengine.match.identity import identity_of, rules_of
from pyengine.match.openings import Book, Openings
from pyengine.match.players import Move, Player
from pyengine.match.record import Record, finished_game
from pyengine.match.result import GameRecord, MatchEnd, MatchResult
from pyengine.match.statistics import PAIR_SCORES, Sprt, SprtState
from pyengine.search.clock import Clock

OnProgress = Callable[[MatchResult], object]

_GAMES_WITHOUT_TEST = 100
_CONCURRENT = 64  # games, or more if batches are large


class MatchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a match; ``result`` has the finished games."""

    def __init__(self, result: MatchResult) -> None:
        super().__init__(str(result))
        self.result = result


def match(
    a: Any,
    b: Any,
    *,
    games: int | None = None,
    seed: int = 0,
    game: Any = None,
    openings: Openings | Sequence[Sequence[int]] | None = None,
    sprt: Sprt | None = None,
    concurrent_games: int | None = None,
    max_plies: int | None = None,
    clock: Clock | None = None,
    record: str | os.PathLike[str] | None = None,
    names: tuple[str, str] = ("a", "b"),
    confidence: float = 0.95,
    on_progress: OnProgress | None = None,
) -> MatchResult:
    """Play games between two players; each opening is played twice, with colours swapped.

    The result is from a's perspective. No search tree is reused from move to move.

    Args:
        a, b: each an :class:`~pyengine.Engine`, another program (:class:`GtpPlayer`,
            :class:`GomocupPlayer`, :class:`UgiPlayer`), a function ``state -> action``, or an
            object with ``search_many(states)`` whose results have an ``action``. Instead of an
            action it may be ``pyengine.match.RESIGN``.
        games: number of games. If it is odd, the last opening is played once. None = 100, or with
            ``sprt`` enough to decide 90 % of tests (:meth:`Sprt.games_for`).
        seed: of the openings; engines have their own.
        game: a name, a game or a Python game; required if neither player is an Engine.
        openings: how openings are generated (default: 4 random moves), or a list of openings, each
            a sequence of actions.
        sprt: a test that ends the match as soon as it is decided.
        concurrent_games: games whose searches share batches (``Engine.search_many``); None = 64 or
            twice the largest ``batch_size``, but 1 if an engine has a budget in seconds or there
            is a ``clock``, since concurrent games would share the time, and the ``processes`` of an
            external program.
        max_plies: a game that reaches this length, opening included, is cut short and counts as a
            draw (:attr:`GameRecord.cut_short`); None = no limit. For searches of a user's game,
            leave room for the search depth below the game's ``max_game_length``.
        clock: the time of each player in each game. A player whose flag falls loses the game.
            Engines search as long as the clock's budgets, or less if their configuration says so;
            external programs are told the time. Other players are only timed. Starting a
            program takes no time of its clock.
        record: a file of JSON lines, one per finished game. An existing record is continued if it
            has the same arguments (``games``, ``sprt`` and ``concurrent_games`` may differ). A
            network is identified by its content, a Python player, evaluator function or game by
            its attribute ``identity`` (a str), or its qualified name and values. Give it an
            ``identity`` that changes whenever its moves do. The lock file beside the record ends
            with ``.lock``.
        names: of the players, for the report.
        confidence: of the intervals, in (0, 1).
        on_progress: called with the result so far after each round; ``False`` ends the match.

    Raises:
        ConfigError: an argument is out of range, the engines play different games, or the record
            belongs to another match or is in use.
        DataError: the record is damaged or cannot be opened; it is not changed.
        EngineError: a program ended, did not answer in time, or answered nonsense.
        IllegalActionError: a player chose an illegal action.
        MatchInterrupted: Ctrl-C (a KeyboardInterrupt).

    Example:
        >>> import pyengine
        >>> from pyengine.match import RandomPlayer
        >>> strong = pyengine.Engine("tic_tac_toe", "rollout", simulations=100)
        >>> result = pyengine.match(strong, RandomPlayer(), games=20, seed=1)
        >>> result.games, result.score > 0.7
        (20, True)
    """
    seed = integer("seed", seed, 0)
    if concurrent_games is not None:
        concurrent_games = integer("concurrent_games", concurrent_games, 1)
    if max_plies is not None:
        max_plies = integer("max_plies", max_plies, 1)
    match elements("names", names, "two strings"):
        case [str(a_name), str(b_name)]:
            names = (a_name, b_name)
        case _:
            raise ConfigError(f"names: expected two strings, got {repr_with_type(names)}")
    confidence = number("confidence", confidence, "a number in (0, 1)", lambda c: 0 < c < 1)
    check_type("sprt", sprt, Sprt | None, "an Sprt, such as Sprt(elo0=0, elo1=10), or None")
    check_type("clock", clock, Clock | None, "a Clock or None")
    check_callback("on_progress", on_progress)
    games = default_games(sprt) if games is None else integer("games", games, 1)
    players = (Player(a, "a"), Player(b, "b"))
    played = _game_of(players, game)
    with closing(Book(played, Openings() if openings is None else openings, seed)) as book:
        book.check_size((games + 1) // 2)
        terms = _Terms(
            game=played,
            players=players,
            names=names,
            seed=seed,
            book=book,
            games=games,
            sprt=sprt,
            confidence=confidence,
            max_plies=max_plies,
            clock=clock,
        )
        with closing(Record(record, played, terms.identity, max_plies)) as file:
            concurrent = concurrent_games or _concurrent(players, clock)
            return _Match(terms, file).play(concurrent, on_progress)


def default_games(sprt: Sprt | None) -> int:
    """Return the number of games of a match if none is given."""
    return _GAMES_WITHOUT_TEST if sprt is None else sprt.games_for()


def _game_of(players: tuple[Player, Player], game: Any) -> Game:
    games = [player.game for player in players if player.game is not None]
    if game is not None:
        games.append(load_or_wrap(game))
    if not games:
        raise ConfigError("game: required, since neither a nor b is an Engine")
    first, *others = games
    for other in others:
        if other != first:
            raise ConfigError(f"game: expected one game, got {first} and {other}")
    return first


def _concurrent(players: tuple[Player, Player], clock: Clock | None) -> int:
    configs = [player.config for player in players if player.config is not None]
    if clock is not None or any(config.seconds is not None for config in configs):
        return 1
    preferred = [count for player in players if (count := player.concurrent_games) is not None]
    if preferred:
        return min(preferred)
    return max([_CONCURRENT, *(2 * config.batch_size for config in configs)])


@dataclass(frozen=True)
class _Terms:
    """The arguments of :func:`match`."""

    game: Game
    players: tuple[Player, Player]
    names: tuple[str, str]
    seed: int
    book: Book
    games: int
    sprt: Sprt | None
    confidence: float
    max_plies: int | None
    clock: Clock | None

    def identity(self) -> dict[str, Any]:
        """Return the arguments that a resumed match must repeat."""
        a, b = self.players
        arguments = {
            "game": str(self.game),
            "names": list(self.names),
            "a": identity_of(a.original),
            "b": identity_of(b.original),
            "seed": self.seed,
            "openings": self.book.identity(),
            "rules": rules_of(self.game),
            "max_plies": self.max_plies,
            "clock": None if self.clock is None else repr(self.clock),
        }
        return {name: value for name, value in arguments.items() if value is not None}


@dataclass(eq=False)
class _GameInPlay:
    """A game in progress."""

    pair: int
    a_plays: int
    opening: tuple[int, ...]
    state: State
    clocks: tuple[Clock, Clock] | None
    loss: Loss | None = None  #: how the player to move has lost

    def clock(self) -> Clock:
        """Return the clock of the player to move."""
        assert self.clocks is not None
        return self.clocks[self.state.current_player()]

    def turn(self) -> int:
        """Return 0 if a is to move, 1 for b."""
        return int(self.state.current_player() != self.a_plays)

    def finished(self, max_plies: int | None) -> GameRecord | None:
        opening = len(self.opening)
        return finished_game(self.state, self.pair, self.a_plays, opening, max_plies, self.loss)


class _Match:
    """The games of a match."""

    def __init__(self, terms: _Terms, record: Record) -> None:
        self._terms = terms
        self._record = record
        self._begun = time.perf_counter()
        self._done = [game for game in record.games if 2 * game.pair + game.a_plays < terms.games]
        self._test = _PairTest(terms.sprt)
        for game in self._done:
            self._test.add(game)
        self._waiting = self._to_play(terms.games)

    def _to_play(self, games: int) -> Iterator[_GameInPlay]:
        """Yield the unfinished games in order; openings are generated on demand."""
        book = self._terms.book
        done = {(game.pair, game.a_plays) for game in self._done}
        openings = {game.pair: game.opening for game in self._done}
        for opening in openings.values():
            book.add(self._start(opening))
        for pair in range((games + 1) // 2):
            colours = [c for c in (0, 1) if 2 * pair + c < games and (pair, c) not in done]
            if not colours:
                continue
            opening = openings[pair] if pair in openings else book.opening(pair)
            for a_plays in colours:
                yield _GameInPlay(pair, a_plays, opening, self._start(opening), self._clocks())

    def _clocks(self) -> tuple[Clock, Clock] | None:
        if self._terms.clock is None:
            return None
        first, second = copy.copy(self._terms.clock), copy.copy(self._terms.clock)
        first.reset()
        second.reset()
        return first, second

    def _start(self, opening: tuple[int, ...]) -> State:
        state, most = self._terms.game.new_initial_state(opening), self._terms.max_plies
        if state.is_terminal():
            raise ConfigError(f"openings: {list(opening)} ends the game")
        if most is not None and len(opening) >= most:
            raise ConfigError(
                f"openings: expected fewer than max_plies={most} moves, got {len(opening)}"
            )
        return state

    def play(self, concurrent: int, on_progress: OnProgress | None) -> MatchResult:
        playing: list[_GameInPlay] = []
        try:
            while not self._test.decided:
                while len(playing) < concurrent and (game := next(self._waiting, None)):
                    playing.append(game)
                if not playing:
                    break
                for side in (0, 1):
                    playing = self._round(playing, side)
                if on_progress is not None and on_progress(self._result("games")) is False:
                    return self._result("stopped")
        except KeyboardInterrupt:
            raise MatchInterrupted(self._result("interrupted")) from None
        return self._result("sprt" if self._test.decided else "games")

    def _round(self, playing: list[_GameInPlay], side: int) -> list[_GameInPlay]:
        """Let one player move in all its games; return the unfinished games."""
        mine = [game for game in playing if game.turn() == side]
        if not mine:
            return playing
        player = self._terms.players[side]
        for game, move in zip(mine, self._moves(player, mine), strict=True):
            if isinstance(move, Loss):
                game.loss = move
            else:
                player.apply(game.state, move)
        ended = set()
        for game in mine:
            record = game.finished(self._terms.max_plies)
            if record is not None:
                self._record.add(record)
                self._done.append(record)
                self._test.add(record)
                ended.add(game)
        return [game for game in playing if game not in ended]

    def _moves(self, player: Player, games: list[_GameInPlay]) -> Iterable[Move]:
        """Return a player's move in each game; on a clock one after the other."""
        if self._terms.clock is None:
            return player.choose([game.state for game in games])
        return (player.choose_on_clock(game.state, game.clock()) for game in games)

    def _result(self, end: MatchEnd) -> MatchResult:
        return MatchResult(
            names=self._terms.names,
            records=tuple(self._done),
            sprt=self._test.state,
            seconds=time.perf_counter() - self._begun,
            stop_reason=end,
            confidence=self._terms.confidence,
        )


class _PairTest:
    """A sequential test over pairs in the order of their openings.

    The order of completion would put short games first and bias the test.
    """

    def __init__(self, sprt: Sprt | None) -> None:
        self._sprt = sprt
        self._points: dict[int, list[float]] = {}
        self._counts = [0] * len(PAIR_SCORES)
        self._next = 0
        self.state: SprtState | None = None if sprt is None else sprt.state(self._counts)

    @property
    def decided(self) -> bool:
        return self.state is not None and self.state.accepted is not None

    def add(self, game: GameRecord) -> None:
        """Count a game; its pair counts once it and all earlier pairs are complete."""
        if self._sprt is None:
            return
        self._points.setdefault(game.pair, []).append(game.points)
        while len(self._points.get(self._next, ())) == 2 and not self.decided:
            self._counts[PAIR_SCORES.index(sum(self._points[self._next]) / 2)] += 1
            self._next += 1
            self.state = self._sprt.state(self._counts)
