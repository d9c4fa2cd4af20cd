"""Games at once against one evaluator: :class:`SelfPlayer`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyengine import _core
from pyengine.base.arguments import check_type, elements, number, repr_with_type
from pyengine.base.integers import integer
from pyengine.base.interrupts import deferred_interrupt
from pyengine.data import FinishedGame, GameSink
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import as_evaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import as_game, load_game
from pyengine.selfplay.config import SelfPlayConfig, as_config
from pyengine.selfplay.report import SelfPlayReport

MOST_GAMES = (1 << 32) - 1  #: records count so far
_ENDLESS = 1 << 62  # a run that another limit ends
_VALUES = "numbers in [-1, 1]"

OnGames = Callable[[Iterator[FinishedGame]], object]


class SelfPlayer:
    """Plays games against itself and hands them over; writes nothing.

    Args:
        game: a Game, its name or a Python game.
        evaluator: whatever an Engine takes.
        config: the settings.
        spec: how the positions of the records are encoded; None = as the evaluator reads them, or
            the default spec where it reads none.
        first_number: of the games, which also names their random numbers.
        played_on: :attr:`FinishedGame.lowest <pyengine.data.FinishedGame.lowest>` of earlier games,
            oldest first: the threshold of resignation begins where they leave it.

    Raises:
        ConfigError: an argument or a setting that does not fit.
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
    ) -> None:
        self.game = load_game(game) if isinstance(game, str) else as_game(game)
        self.evaluator = as_evaluator(evaluator)
        self.config = as_config(config).sized(self.evaluator.device_batches)
        if spec is not None:
            check_type("spec", spec, ModelSpec, "a ModelSpec or None")
        self.spec = (spec or self.evaluator.spec or ModelSpec()).without_final_board()
        self._first_number = first_number = integer("first_number", first_number, 0, MOST_GAMES)
        self._seconds = 0.0
        self._waiting: deque[FinishedGame] = deque()  # games that nobody has taken yet
        known = elements("played_on", played_on, _VALUES)
        values = [number("played_on", v, _VALUES, lambda v: -1 <= v <= 1) for v in known]
        self._core = _core.SelfPlay(
            self.game, self.evaluator, self._settings(first_number), self.spec, values
        )

    def _settings(self, first_number: int) -> SelfPlayConfig:
        """Games of another number have other random numbers."""
        mixed = (self.config.seed + 0x9E3779B97F4A7C15 * first_number) % (1 << 64)
        return self.config.replace(seed=mixed)

    def run(self, games: int, on_games: OnGames, *, every: float = 0.1) -> bool:
        """Begin ``games`` games and play until all that are open have ended.

        ``on_games`` is called about every ``every`` seconds, on the calling thread, and at the end,
        with the games that have ended since, to be taken one after the other; returning ``False``
        ends the run early: open games and their searches go on in the next one. Returns whether
        none is open. Games that have ended and were not taken are still there after an error: see
        :meth:`take`.

        Raises:
            KeyboardInterrupt: Ctrl-C, which ends the run early; never while games are taken.
            EngineError: another run is under way.

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
        with deferred_interrupt() as late:  # a stop would be one of the next run
            on_games(self._ended())
        if interrupted.is_set() or late.is_set():
            raise KeyboardInterrupt
        return bool(completed)

    def take(self) -> list[FinishedGame]:
        """Return the games that have ended and were not taken yet."""
        return list(self._ended())

    def write(self, writer: GameSink, games: Iterator[FinishedGame] | None = None) -> None:
        """Add games to a writer, by default those that have ended and were not taken yet.

        One that an interruption kept out of the writer is not lost.
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
        """Games that have ended; one is gone when it is handed over, not before."""
        for fields in self._core.take_finished():
            fields["number"] += self._first_number
            self._waiting.append(FinishedGame(**fields))
        while self._waiting:
            yield self._waiting.popleft()

    def replace_evaluator(self, evaluator: Any) -> None:
        """Let another network of the same spec go on with the open games; not during a run.

        Raises ConfigError when it reads positions otherwise than the records do.
        """
        other = as_evaluator(evaluator)
        if other.spec is not None and other.spec.without_final_board() != self.spec:
            raise ConfigError(f"evaluator: expected the spec {self.spec}, got {other.spec}")
        self._core.replace_evaluator(other)
        self.evaluator = other

    def stop(self) -> None:
        """End the run under way soon; from any thread."""
        self._core.stop()

    def report(self, *, seconds: float | None = None, shards: int = 0) -> SelfPlayReport:
        """Return the counts so far; ``seconds``: of a run under way as well."""
        if seconds is not None:
            seconds = number("seconds", seconds, "a number of seconds or None", lambda s: s >= 0)
        shards = integer("shards", shards, 0)
        counters = self._core.counters()
        games = counters.pop("finished")
        open_games = counters.pop("begun") - games
        del counters["searches"]
        return SelfPlayReport(
            games=games,
            open_games=open_games,
            seconds=self._seconds if seconds is None else seconds,
            shards=shards,
            **counters,
        )
