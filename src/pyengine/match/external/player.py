"""What players of all protocols share: running programs, one game each at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from pyengine.base.checks import check_type, elements, integer, number
from pyengine.games.game import State
from pyengine.games.outcomes import Loss
from pyengine.match.external.program import EndedError, NoAnswerError, Program, check_installed
from pyengine.search.clock import Clock

GRACE = 5.0  #: seconds after the fall of the flag, after which a program is killed
_POLL = 0.1  # seconds between two checks for Ctrl-C


class Opponent(ABC):
    """A running program and the position that it holds.

    Args:
        start: starts the program.

    """

    def __init__(self, start: Callable[[], Program]) -> None:
        self._start = start
        self._restart()

    def _restart(self) -> None:
        self.program = self._start()
        self._has_moved = False
        self.begin()

    def prepare(self, state: State) -> None:
        """Set up a position; a program that has ended since its last move is started again.

        Leela Zero 0.17 may end with a failed assertion when the board is cleared.
        """
        try:
            self.set_up(state)
        except EndedError:
            if not self._has_moved:
                raise
            self.program.close()
            self._restart()
            self.set_up(state)

    def move(self, state: State, clock: Clock | None) -> int | Loss:
        """Return the program's move in the position that was set up."""
        self._has_moved = True
        return self.choose(state, clock)

    @abstractmethod
    def begin(self) -> None:
        """Forget what an earlier program knew; ask what the new one can do."""

    @abstractmethod
    def name(self) -> str:
        """Return name and version of the program."""

    @abstractmethod
    def fit(self, state: State) -> tuple[bool, int]:
        """Return whether a state continues the program's position, and the plies they share."""

    @abstractmethod
    def set_up(self, state: State) -> None:
        """Set up a position."""

    @abstractmethod
    def choose(self, state: State, clock: Clock | None) -> int | Loss:
        """Ask for the move."""

    @abstractmethod
    def close(self) -> None:
        """End the program."""


@dataclass(frozen=True)
class Answer:
    """The answer of a program."""

    action: int | Loss


class ExternalPlayer(ABC):
    """A program as a player of a match.

    Programs start when they are first needed and run until :meth:`close`.

    Args:
        command: program and arguments, as a shell would split them; no shell runs.
        timeout: maximum seconds for an answer, above 0.
        processes: number of copies of the program, which play concurrent games; also the number
            of games that :func:`~pyengine.match` plays at once by default.

    """

    protocol: str
    settings = ""  #: further parts of the identity

    def __init__(self, command: str, *, timeout: float = 600, processes: int = 1) -> None:
        check_type("command", command, str, "a string")
        check_installed(command)
        self.command = command
        self.timeout = number("timeout", timeout, "a number of seconds > 0", lambda s: s > 0)
        self.concurrent_games = integer("processes", processes, 1)
        self._opponents: list[Opponent] = []

    @abstractmethod
    def _start(self) -> Opponent:
        """Start the program."""

    @cached_property
    def identity(self) -> str:
        """Protocol, command, and the program's name and version, for match records."""
        if not self._opponents:
            self._opponents.append(self._start())
        return f"{self.protocol}:{self.command} ({self._opponents[0].name()}){self.settings}"

    def __call__(self, state: State) -> int | Loss:
        """Return the move in a state, or ``Loss.resigns``."""
        return self.search_many([state])[0].action

    def search_many(self, states: Sequence[State]) -> list[Answer]:
        """Return the move in each state; each process plays its share of them.

        Raises:
            ConfigError: the program cannot be started, or cannot play the game.
            IllegalActionError: it chose an illegal move.
            EngineError: it failed, ended or did not answer in time.

        """
        states = elements("states", states, "a sequence of states")
        for state in states:
            check_type("states", state, State, "states of a game")
        try:
            return self._search_many(states)
        except BaseException:
            self._kill()  # an answer may still be on its way
            raise

    def _search_many(self, states: list[State]) -> list[Answer]:
        answers: dict[int, Answer] = {}
        errors: list[BaseException] = []

        def play(opponent: Opponent, indices: list[int]) -> None:
            try:
                for index in indices:
                    opponent.prepare(states[index])
                    answers[index] = Answer(opponent.move(states[index], None))
            except BaseException as error:
                errors.append(error)

        shares = self._shares(states)
        threads = [threading.Thread(target=play, args=each, daemon=True) for each in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(_POLL)
        if errors:
            raise errors[0]
        return [answers[index] for index in range(len(states))]

    def _shares(self, states: list[State]) -> list[tuple[Opponent, list[int]]]:
        """Give each process about as many states, if possible of the game that it knows."""
        most = -(-len(states) // self.concurrent_games)
        shares: dict[Opponent, list[int]] = {}
        for index, state in enumerate(states):
            full = {opponent for opponent, indices in shares.items() if len(indices) == most}
            shares.setdefault(self._opponent_for(state, full), []).append(index)
        return list(shares.items())

    def _opponent_for(self, state: State, full: Collection[Opponent] = ()) -> Opponent:
        """Return the process that knows the game, else a new one if allowed, else any."""
        free = [opponent for opponent in self._opponents if opponent not in full]
        best = max(free, key=lambda opponent: opponent.fit(state), default=None)
        if best is not None and (
            best.fit(state)[0] or len(self._opponents) >= self.concurrent_games
        ):
            return best
        self._opponents.append(self._start())
        return self._opponents[-1]

    # --- games on time

    def prepare(self, state: State) -> None:
        """Set up a position before the clock runs."""
        try:
            self._opponent_for(state).prepare(state)
        except BaseException:
            self._kill()
            raise

    def search_on_clock(self, state: State, clock: Clock) -> Answer:
        """Return the move in a state; ``Loss.on_time`` if there is none soon after the flag falls.

        Errors are those of :meth:`search_many`.
        """
        try:
            return Answer(self._opponent_for(state).move(state, clock))
        except NoAnswerError:
            self._kill()
            if clock.left + GRACE > self.timeout:
                raise
            return Answer(Loss.on_time)
        except BaseException:
            self._kill()
            raise

    def close(self) -> None:
        """End the programs. The next search starts them again."""
        for opponent in self._opponents:
            opponent.close()
        self._opponents = []

    def _kill(self) -> None:
        """End the programs at once."""
        for opponent in self._opponents:
            opponent.program.close()
        self._opponents = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.command!r})"


class PacedPlayer(ExternalPlayer):
    """A player whose protocol limits the seconds of a move.

    Args:
        seconds: for each move, above 0, in matches without a clock.
        command, timeout, processes: as for :class:`ExternalPlayer`.

    """

    def __init__(
        self, command: str, *, seconds: float = 1, timeout: float = 600, processes: int = 1
    ) -> None:
        super().__init__(command, timeout=timeout, processes=processes)
        self.seconds = number("seconds", seconds, "a number of seconds > 0", lambda s: s > 0)
        self.settings = f", {self.seconds:g} s a move"
