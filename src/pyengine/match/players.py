"""Players of a match: adapters for engines and functions, and players without a search."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.checks import check_choice, elements, integer, repr_with_type, short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.eval.evaluators import EvaluatorLike, as_evaluator
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss
from pyengine.match.external.player import ExternalPlayer
from pyengine.search.clock import Clock
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

_MAX_BATCH = 4096  # rows

#: What a player may answer instead of an action.
RESIGN = Loss.resigns

#: An action, or how the player loses without one.
Move: TypeAlias = int | Loss


class Player:
    """A player of a match.

    Args:
        original: the user's object.
        role: "a" or "b", for messages.

    """

    def __init__(self, original: Any, role: str) -> None:
        self.original = original
        self._role = role
        self._searches = callable(getattr(original, "search_many", None))
        if not (self._searches or callable(original)):
            raise ConfigError(
                f"{role}: expected an Engine, a function state -> action, or an object with "
                f"search_many(states), got {short_repr(original)}"
            )

    @property
    def game(self) -> Game | None:
        """The only game it plays, or None."""
        return getattr(self.original, "game", None) if self._searches else None

    @property
    def config(self) -> SearchConfig | None:
        return self.original.config if isinstance(self.original, Engine) else None

    @property
    def concurrent_games(self) -> int | None:
        """The number of games that a program plays at once; None for other players."""
        is_program = isinstance(self.original, ExternalPlayer)
        return self.original.concurrent_games if is_program else None

    def choose(self, states: Sequence[State]) -> list[Move]:
        """Return an action for each state, or that the player resigns."""
        if self._searches:
            answers = self._search(states)
        else:
            answers = [self.original(_users_state(state)) for state in states]
        return [self._move(answer) for answer in answers]

    def choose_on_clock(self, state: State, clock: Clock) -> Move:
        """Return an action for a state, or why the game is lost; the clock runs meanwhile."""
        if isinstance(self.original, ExternalPlayer):
            self.original.prepare(state)
        begin = time.monotonic()
        move = self._on_clock(state, clock)
        return move if clock.spend(time.monotonic() - begin) else Loss.on_time

    def _on_clock(self, state: State, clock: Clock) -> Move:
        if isinstance(self.original, Engine):
            limit = self.original.config.seconds or math.inf
            seconds = min(clock.budget(state), limit)
            results = self.original.search_many([state], seconds=seconds, stop_when_decided=True)
            return results[0].action
        if isinstance(self.original, ExternalPlayer):
            return self.original.search_on_clock(state, clock).action
        return self.choose([state])[0]

    def apply(self, state: State, action: int) -> None:
        """Play a move. An IllegalActionError names the player."""
        try:
            state.apply_action(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"player {self._role}: {error}") from error

    def _search(self, states: Sequence[State]) -> list[Any]:
        results = self.original.search_many(states)
        try:
            return [result.action for _, result in zip(states, results, strict=True)]
        except ConfigError:  # from a generator of the player
            raise
        except (AttributeError, TypeError, ValueError) as error:
            raise ConfigError(
                f"player {self._role}: search_many() must return {len(states)} results with an "
                f"action, got {repr_with_type(results)}"
            ) from error

    def _move(self, answer: Any) -> Move:
        if isinstance(answer, Loss):
            return answer
        try:
            return operator.index(answer)
        except TypeError:
            raise ConfigError(
                f"player {self._role}: expected an action, an int, got {repr_with_type(answer)}"
            ) from None


def _users_state(state: State) -> Any:
    """Return a copy of a state: the user's object if the game is a user's."""
    own = _core.unwrap_state(state)
    return state.clone() if own is None else own


@dataclass(frozen=True)
class Choice:
    """The answer of a player without a search."""

    action: int
    value: float  #: in [-1, 1], for the player to move; 0 without an evaluation


class RandomPlayer:
    """Plays uniformly random legal actions; a function ``state -> action``.

    A resumed match restarts the random stream.

    Args:
        seed: one or several ints of at least 0, or a generator.

    """

    def __init__(self, seed: int | Sequence[int] | np.random.Generator = 0) -> None:
        self.seed = seed
        try:
            self._rng = np.random.default_rng(seed)
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(
                f"seed: expected one or several ints of at least 0, or a generator, "
                f"got {repr_with_type(seed)}"
            ) from error

    def __call__(self, state: Any) -> int:
        """Return a random action for a non-terminal state of any game."""
        legal = _legal(state)
        return int(legal[int(self._rng.integers(len(legal)))])

    def search_many(self, states: Sequence[Any]) -> list[Choice]:
        """Return an action for each state."""
        states = elements("states", states, "a sequence of states")
        return [Choice(self(state), 0.0) for state in states]

    def __repr__(self) -> str:
        return f"RandomPlayer(seed={self.seed!r})"


class ValuePlayer:
    """Plays the action whose next position has the highest value: a search of one ply.

    The moves of all states are evaluated in shared batches. Ties go to the smallest action. Priors
    are ignored.

    Args:
        evaluator: anything that an :class:`~pyengine.Engine` accepts.
        ends: the source of terminal values: ``"rules"`` (the game's result) or ``"evaluator"``
            (for the player whose turn it would be).
        batch_size: maximum rows per evaluation, 1 to 4096.

    """

    def __init__(
        self, evaluator: EvaluatorLike, *, ends: str = "rules", batch_size: int = 64
    ) -> None:
        check_choice("ends", ends, ("rules", "evaluator"))
        self.evaluator = as_evaluator(evaluator)
        self.ends = ends
        self.batch_size = integer("batch_size", batch_size, 1, _MAX_BATCH)

    def __call__(self, state: State) -> int:
        """Return the best action for a state."""
        return self.search_many([state])[0].action

    def search_many(self, states: Sequence[State]) -> list[Choice]:
        """Return the best action for each state."""
        states = elements("states", states, "a sequence of states")
        moves = [_legal(state) for state in states]
        turns = [
            (state, action) for state, legal in zip(states, moves, strict=True) for action in legal
        ]
        values = self._values(
            [_after(state, action) for state, action in turns],
            [state.current_player() for state, _ in turns],
        )
        choices = []
        ends = np.cumsum([len(legal) for legal in moves], dtype=int)
        for legal, own in zip(moves, np.split(values, ends)[:-1], strict=True):
            best = int(np.argmax(own))
            choices.append(Choice(int(legal[best]), float(own[best])))
        return choices

    def _values(self, after: Sequence[State], movers: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return float64[N]: the value of each position for the player who moved there."""
        values = np.zeros(len(after))
        open_ = []
        for number, (state, mover) in enumerate(zip(after, movers, strict=True)):
            if self.ends == "rules" and state.is_terminal():
                values[number] = state.returns()[mover]
            else:
                open_.append(number)
        if open_:
            evaluated = self.evaluator.evaluate(
                [after[number] for number in open_], batch_size=self.batch_size
            )[1]
            same = [after[number].current_player() == movers[number] for number in open_]
            values[open_] = np.where(same, evaluated, -evaluated)
        return values

    def __repr__(self) -> str:
        return f"ValuePlayer({self.evaluator!r}, ends={self.ends!r})"


def _legal(state: Any) -> list[int]:
    legal_actions = getattr(state, "legal_actions", None)
    if not callable(legal_actions):
        raise ConfigError(f"state: expected a state of a game, got {repr_with_type(state)}")
    legal = list(legal_actions())
    if not legal:
        raise ConfigError("state: the game is over")
    return legal


def _after(state: State, action: int) -> State:
    following = state.clone()
    following.apply_action(action)
    return following
