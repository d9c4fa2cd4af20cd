"""Players without a search: one that moves at random, one that looks a single move ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import elements, repr_with_type
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import EvaluatorLike, as_evaluator
from pyengine.games.game import State

_MOST_ROWS = 4096  # of a batch


@dataclass(frozen=True)
class Choice:
    """What a player without a search answers."""

    action: int
    value: float  #: in [-1, 1] for who chose it; 0 where nothing was evaluated


class RandomPlayer:
    """Plays each legal action with the same probability; call it, or let it play a match.

    A match that goes on from a record starts the stream again.

    Args:
        seed: of its moves, one or several ints of at least 0; or the generator to draw from.

    """

    def __init__(self, seed: int | Sequence[int] | np.random.Generator = 0) -> None:
        self.seed = seed
        try:
            self._rng = np.random.default_rng(seed)
        except Exception as error:  # NumPy asks the object in many ways
            raise ConfigError(
                f"seed: expected one or several ints of at least 0, or a generator, "
                f"got {repr_with_type(seed)}"
            ) from error

    def __call__(self, state: Any) -> int:
        """Return an action for a state of any game that goes on."""
        legal = _legal(state)
        return int(legal[int(self._rng.integers(len(legal)))])

    def search_many(self, states: Sequence[Any]) -> list[Choice]:
        """Return an action for each state."""
        each = elements("states", states, "a sequence of states")
        return [Choice(self(state), 0.0) for state in each]

    def __repr__(self) -> str:
        """Show the seed."""
        return f"RandomPlayer(seed={self.seed!r})"


class ValuePlayer:
    """Plays the move whose position its evaluator values most: a search of one ply.

    All moves of all states are evaluated together, in large batches; nothing else is random, and of
    equal values the smallest action is played. Priors are not read.

    Args:
        evaluator: whatever an :class:`~pyengine.Engine` takes.
        ends: who values a position that ends the game: ``"rules"``, its result; ``"evaluator"``,
            the evaluator like any other, for the player whose turn it would be.
        batch_size: most rows evaluated at once, 1 to 4096.

    Raises:
        ConfigError: ``ends`` is neither, ``batch_size`` is out of range.

    """

    def __init__(
        self, evaluator: EvaluatorLike, *, ends: str = "rules", batch_size: int = 64
    ) -> None:
        if not isinstance(ends, str) or ends not in ("rules", "evaluator"):
            raise ConfigError(f"ends: expected 'rules' or 'evaluator', got {repr_with_type(ends)}")
        self.evaluator = as_evaluator(evaluator)
        self.ends = ends
        self.batch_size = integer("batch_size", batch_size, 1, _MOST_ROWS)

    def __call__(self, state: State) -> int:
        """Return the action for one state."""
        return self.search_many([state])[0].action

    def search_many(self, states: Sequence[State]) -> list[Choice]:
        """Return the best action for each state; what evaluating raises passes."""
        states = elements("states", states, "a sequence of states")
        moves = [_legal(state) for state in states]
        after = [
            _after(state, action)
            for state, legal in zip(states, moves, strict=True)
            for action in legal
        ]
        movers = [
            state.current_player()
            for state, legal in zip(states, moves, strict=True)
            for _ in legal
        ]
        values = self._values(after, movers)
        choices, start = [], 0
        for legal in moves:
            mine = values[start : start + len(legal)]
            best = int(np.argmax(mine))
            choices.append(Choice(int(legal[best]), float(mine[best])))
            start += len(legal)
        return choices

    def _values(self, after: Sequence[State], movers: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return float64[N]: what each position is worth to the player who moved to it."""
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
        """Show evaluator and settings."""
        return f"ValuePlayer({self.evaluator!r}, ends={self.ends!r})"


def _legal(state: Any) -> list[int]:
    """The legal actions of a state. Raises ConfigError where it is none, or the game is over."""
    ask = getattr(state, "legal_actions", None)
    if not callable(ask):
        raise ConfigError(f"state: expected a state of a game, got {repr_with_type(state)}")
    legal = list(ask())
    if not legal:
        raise ConfigError("state: expected one of a game that goes on, got one that is over")
    return legal


def _after(state: State, action: int) -> State:
    following = state.clone()
    following.apply_action(action)
    return following
