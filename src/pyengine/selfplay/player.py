"""Self-play of many concurrent games with one evaluator."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyengine import _core
from pyengine._core import SelfPlayConfig
from pyengine.base.checks import check_type, elements, integer, number, repr_with_type
from pyengine.base.interrupts import deferred_interrupt
from pyengine.data import FinishedGame, GameSink
from pyengine.errors import ConfigError
from pyengine.eval.bundled import load_or_wrap, misfit_explained
from pyengine.eval.evaluators import as_evaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import State
from pyengine.selfplay.openings import Openings, opening_states
from pyengine.selfplay.report import SelfPlayReport

MOST_GAMES = (1 << 32) - 1  #: limit of game numbers in records
_ENDLESS = 1 << 62  # largest number of games in a run, for runs with another limit
_VALUES = "numbers in [-1, 1]"

OnGames = Callable[[Iterator[FinishedGame]], object]


class SelfPlayer:
    """Plays games against itself and passes them to a callback or a writer.

    Args:
        game: a Game, its name, or a Python game.
        evaluator: any evaluator that an Engine accepts.
        config: the settings.
        spec: encoding of the recorded positions; None uses the spec of the evaluator, or the
            default if it has none.
        first_number: number of the first game, which also affects the random numbers.
        played_on: :attr:`FinishedGame.lowest <pyengine.data.FinishedGame.lowest>` of earlier games,
            oldest first, from which the initial resignation threshold is computed.
        openings: where games start, see :func:`pyengine.selfplay`.

    Raises:
        ConfigError: an argument or a setting is invalid.
        ModelError: the network does not fit the game.
    """

    def __init__(
        self,
        game: Any,
        evaluator: Any,
        config: SelfPlayConfig | None = None,
        *,
        spec: ModelSpec | None = None,
        first_number: int = 0,
        played_on: Iterable[float] = (),
        openings: Openings | None = None,
    ) -> None:
        self.game = load_or_wrap(game)
        self.evaluator = as_evaluator(evaluator)
        check_type("config", config, SelfPlayConfig | None, "a SelfPlayConfig")
        self.config = (config or SelfPlayConfig()).sized(self.evaluator.device_batches)
        check_type("spec", spec, ModelSpec | None, "a ModelSpec or None")
        self.spec = (spec or self.evaluator.spec or ModelSpec()).without_final_board()
        self._first_number = integer("first_number", first_number, 0, MOST_GAMES)
        self._seconds = 0.0
        self._waiting: deque[FinishedGame] = deque()  # finished, but not taken yet
        known = elements("played_on", played_on, _VALUES)
        values = [number("played_on", v, _VALUES, lambda v: -1 <= v <= 1) for v in known]
        #: The positions from which games start; empty if all start from the initial one.
        self.openings: list[State] = []
        if openings is not None:
            self.openings = opening_states(self.game, openings, self.config)
        # Games with other numbers get other random numbers.
        seed = (self.config.seed + 0x9E3779B97F4A7C15 * self._first_number) % (1 << 64)
        settings = self.config.replace(seed=seed)
        with misfit_explained(self.evaluator, self.game):
            self._core = _core.SelfPlay(
                self.game, self.evaluator, settings, self.spec, values, self.openings
            )

    def run(self, games: int, on_games: OnGames, *, every: float = 0.1) -> bool:
        """Start ``games`` games and play until no game is open; return whether none is.

        ``on_games`` is called about every ``every`` seconds on the calling thread, and at the end,
        with an iterator over the newly finished games. If it returns ``False``, the run ends early;
        open games and their searches continue in the next run. After an error, :meth:`take` returns
        the finished games that were not consumed.

        Raises:
            KeyboardInterrupt: on Ctrl-C, which ends the run early, but not inside ``on_games``.
            EngineError: another run is in progress.

        """
        games = integer("games", games, 0, _ENDLESS)
        if not callable(on_games):
            raise ConfigError(f"on_games: expected a function, got {repr_with_type(on_games)}")
        every = number("every", every, "a number of seconds, at least 0", lambda s: s >= 0)
        begun = time.perf_counter()
        with deferred_interrupt(self.stop) as interrupted:
            try:
                completed = self._core.run(games, lambda: on_games(self._ended()), every)
            finally:
                self._seconds += time.perf_counter() - begun
        with deferred_interrupt() as late:  # stop() would end the next run
            on_games(self._ended())
        if interrupted.is_set() or late.is_set():
            raise KeyboardInterrupt
        return bool(completed)

    def take(self) -> list[FinishedGame]:
        """Return the finished games that were not taken yet."""
        return list(self._ended())

    def write(self, writer: GameSink, games: Iterator[FinishedGame] | None = None) -> None:
        """Add games to a writer, by default the finished games that were not taken yet.

        If adding a game is interrupted, :meth:`take` still returns it.
        """
        if not callable(getattr(writer, "add", None)):
            raise ConfigError(
                f"writer: expected a ShardWriter or GameSink, got {repr_with_type(writer)}"
            )
        for game in self._ended() if games is None else games:
            before = writer.games
            try:
                writer.add(game)
            except BaseException:
                if writer.games == before:
                    self._waiting.appendleft(game)
                raise

    def _ended(self) -> Iterator[FinishedGame]:
        """Yield the finished games; a game is removed only when it is yielded."""
        for fields in self._core.take_finished():
            fields["number"] += self._first_number
            self._waiting.append(FinishedGame(**fields))
        while self._waiting:
            yield self._waiting.popleft()

    def replace_evaluator(self, evaluator: Any) -> None:
        """Continue the open games with another network; do not call this during a run.

        Raises ConfigError if its spec differs from that of the records.
        """
        other = as_evaluator(evaluator)
        if other.spec is not None and other.spec.without_final_board() != self.spec:
            raise ConfigError(f"evaluator: expected the spec {self.spec}, got {other.spec}")
        self._core.replace_evaluator(other)
        self.evaluator = other

    def stop(self) -> None:
        """End the current run soon. Any thread may call this."""
        self._core.stop()

    def report(self, *, seconds: float | None = None) -> SelfPlayReport:
        """Return the counts so far; ``seconds`` replaces the time of the finished runs."""
        if seconds is not None:
            seconds = number("seconds", seconds, "a number of seconds or None", lambda s: s >= 0)
        counters = self._core.counters()
        games = counters.pop("finished")
        open_games = counters.pop("begun") - games
        del counters["searches"]
        return SelfPlayReport(
            games=games,
            open_games=open_games,
            seconds=self._seconds if seconds is None else seconds,
            **counters,
        )
