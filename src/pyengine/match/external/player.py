"""What players of all protocols share: running programs, one game each at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from pyengine.base.checks import check_type, elements, integer, number
from pyengine.games.game import State
from pyengine.games.outcomes import Loss
from pyengine.match.external.program import NoAnswerError, Program, check_installed
from pyengine.search.clock import Clock

GRACE = 5.0  #: seconds after the fall of the flag, after which a program is killed
_POLL = 0.1  # seconds between two checks for Ctrl-C


class Opponent(ABC):
    """One running program and the position that it holds."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @abstractmethod
    def name(self) -> str:
        """Return name and version of the program."""

    @abstractmethod
    def shared_plies(self, state: State) -> int:
        """Return the number of plies that the program's position shares with a state."""

    @abstractmethod
    def prepare(self, state: State) -> None:
        """Set up a position."""

    @abstractmethod
    def choose(self, state: State, clock: Clock | None) -> int | Loss:
        """Return the program's move in the position that was set up."""

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
    def _start(self) -> Opponent: ...

    @cached_property
    def identity(self) -> str:
        """Protocol, command, and the program's name and version, for match records."""
        return f"{self.protocol}:{self.command} ({self._some(1)[0].name()}){self.settings}"

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
            self.close()  # an answer may still be on its way
            raise

    def _search_many(self, states: list[State]) -> list[Answer]:
        answers: dict[int, Answer] = {}
        errors: list[BaseException] = []

        def play(opponent: Opponent, indices: list[int]) -> None:
            try:
                for index in indices:
                    opponent.prepare(states[index])
                    answers[index] = Answer(opponent.choose(states[index], None))
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
        """Give each process about as many states, if possible of the games that it knows."""
        opponents = self._some(min(len(states), self.concurrent_games))
        most = -(-len(states) // max(1, len(opponents)))
        shares: list[tuple[Opponent, list[int]]] = [(each, []) for each in opponents]
        for index, state in enumerate(states):
            open_ = [share for share in shares if len(share[1]) < most]
            max(open_, key=lambda share: share[0].shared_plies(state))[1].append(index)
        return shares

    def _some(self, count: int) -> list[Opponent]:
        """Return that many running programs."""
        while len(self._opponents) < count:
            self._opponents.append(self._start())
        return self._opponents[:count]

    # --- games on time

    def prepare(self, state: State) -> None:
        """Set up a position before the clock runs."""
        try:
            self._nearest(state).prepare(state)
        except BaseException:
            self.close()
            raise

    def search_on_clock(self, state: State, clock: Clock) -> Answer:
        """Return the move in a state; ``Loss.on_time`` if there is none soon after the flag falls.

        Errors are those of :meth:`search_many`.
        """
        try:
            return Answer(self._nearest(state).choose(state, clock))
        except NoAnswerError:
            self.close()
            if clock.left + GRACE > self.timeout:
                raise
            return Answer(Loss.on_time)
        except BaseException:
            self.close()
            raise

    def _nearest(self, state: State) -> Opponent:
        opponents = self._some(self.concurrent_games)
        return max(opponents, key=lambda opponent: opponent.shared_plies(state))

    def close(self) -> None:
        """End the programs. The next search starts them again."""
        for opponent in self._opponents:
            opponent.close()
        self._opponents = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.command!r})"
