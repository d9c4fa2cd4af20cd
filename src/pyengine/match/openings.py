"""Where the games of a match begin: short random openings, each a stream of its own."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pyengine.base.arguments import check_choice, number, repr_with_type
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator, as_evaluator
from pyengine.games.game import Game, State
from pyengine.search.engine import Engine

_TRIES = 500  # candidates for one opening
_NEW_TRIES = 100  # of them, before a position that was there already is taken


@dataclass(frozen=True, kw_only=True)
class Openings:
    """How openings are made. Each leaves the game open: not over, and no win in one.

    Positions are distinct as long as there are others. Random moves often decide a game with sharp
    tactics: then let an evaluator choose them (``moves="policy"``), or keep what it values near 0
    (``max_value``).

    Attributes:
        plies (int >= 0, default 4): moves of an opening.
        moves ("random" or "policy", default "random"): equally likely moves, or moves drawn from
            the policy of ``evaluator``.
        evaluator (evaluator or None, default None): anything that an Engine takes as evaluator;
            needed for ``moves="policy"`` and ``max_value``.
        temperature (float > 0, default 1.0): of that policy: shares are raised to the power 1 /
            ``temperature``.
        max_value (float in (0, 1] or None, default None): an opening is kept when its value by
            ``evaluator`` is at most this, whoever is ahead; None = any.
        simulations (int >= 0, default 0): of the search for that value; 0 = the evaluator's own
            value.
    """

    plies: int = 4
    moves: Literal["random", "policy"] = "random"
    evaluator: Any = None
    temperature: float = 1.0
    max_value: float | None = None
    simulations: int = 0

    def __post_init__(self) -> None:
        """Check all fields."""
        for name in ("plies", "simulations"):
            object.__setattr__(self, name, integer(f"openings: {name}", getattr(self, name), 0))
        check_choice("openings: moves", self.moves, ("random", "policy"))
        number("openings: temperature", self.temperature, "a number > 0", lambda t: t > 0)
        if self.max_value is not None:
            expected = "a number in (0, 1] or None"
            number("openings: max_value", self.max_value, expected, lambda v: 0 < v <= 1)
        if self.evaluator is None and (self.moves == "policy" or self.max_value is not None):
            raise ConfigError(
                'openings: evaluator: expected one for moves="policy" or max_value, got None'
            )


class Book:
    """The openings of a match by number; each is found when it is asked for.

    The opening of a number depends on the seed and the number, and on those before it only in that
    it is another position.

    Args:
        game: whose openings.
        openings: how they are made, or the openings themselves, each a sequence of actions.
        seed: of the moves.

    """

    def __init__(self, game: Game, openings: Openings | Sequence[Sequence[int]], seed: int) -> None:
        """Make a book; see the class."""
        self._game = game
        self._seed = seed
        self._given: list[tuple[int, ...]] | None = None
        self._seen: set[object] = set()
        self._evaluator: Evaluator | None = None
        if isinstance(openings, Openings):
            self._rules = openings
            if openings.evaluator is not None:
                self._evaluator = as_evaluator(openings.evaluator)
        else:
            self._given = _sequences(openings)
        self._engine: Engine | None = None

    def __len__(self) -> int:
        """Return how many openings were given; 0 where they are made."""
        return len(self._given or ())

    def add(self, state: State) -> None:
        """Take a position for known, so that no other opening leads to it."""
        self._seen.add(self._key(state))

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the actions of an opening. Raises ConfigError when there is none."""
        if self._given is not None:
            return self._given[number]
        if self._rules.plies == 0:
            return ()
        rng = np.random.default_rng((self._seed, number))
        for attempt in range(_TRIES):
            state = self._candidate(rng)
            if state is None or (attempt < _NEW_TRIES and self._key(state) in self._seen):
                continue
            if self._balanced(state):
                self.add(state)
                return tuple(state.history())
        raise ConfigError(
            f"openings: none of {_TRIES} with {self._rules.plies} plies left {self._game} open"
            + ("" if self._rules.max_value is None else " and balanced")
            + f"; expected one, got {self._rules}"
        )

    def check(self, number: int, moves: tuple[int, ...]) -> None:
        """Raise ValueError for moves that cannot be the opening of a number.

        What the evaluator or the openings before it rejected is not looked at again.
        """
        if self._given is not None:
            expected = self._given[number] if number < len(self._given) else None
            if moves != expected:
                raise ValueError(
                    f"expected the opening {expected} of pair {number}, got {list(moves)}"
                )
        elif len(moves) != self._rules.plies or not self._is_drawn(number, moves):
            raise ValueError(
                f"expected an opening of pair {number} by {self._rules} and seed {self._seed}, "
                f"got {list(moves)}"
            )

    def _is_drawn(self, number: int, moves: tuple[int, ...]) -> bool:
        """Whether a number's stream comes to these moves; those by a policy are believed."""
        if self._rules.moves == "policy" or not moves:
            return True
        rng = np.random.default_rng((self._seed, number))
        return any(moves == tuple(self._drawn(rng).history()) for _ in range(_TRIES))

    def close(self) -> None:
        """Free what the evaluator needed."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _candidate(self, rng: np.random.Generator) -> State | None:
        """A position after some moves, None where the game is not open any more."""
        state = self._drawn(rng)
        return None if state.is_terminal() or _wins_at_once(state) else state

    def _drawn(self, rng: np.random.Generator) -> State:
        """A position after some moves, or where they ended the game."""
        state = self._game.new_initial_state()
        for _ in range(self._rules.plies):
            state.apply_action(self._move(state, rng))
            if state.is_terminal():
                break
        return state

    def _move(self, state: State, rng: np.random.Generator) -> int:
        legal = state.legal_actions()
        if self._rules.moves == "random" or self._evaluator is None:
            return int(legal[int(rng.integers(len(legal)))])
        policy = self._evaluator.evaluate([state], game=self._game)[0][0]
        shares = policy[legal].astype(np.float64) ** (1 / self._rules.temperature)
        return int(rng.choice(legal, p=shares / shares.sum()))

    def _balanced(self, state: State) -> bool:
        if self._rules.max_value is None or self._evaluator is None:
            return True
        return abs(self._value(state, self._evaluator)) <= self._rules.max_value

    def _value(self, state: State, evaluator: Evaluator) -> float:
        if self._rules.simulations == 0:
            return float(evaluator.evaluate([state], game=self._game)[1][0])
        if self._engine is None:  # deterministic: a match that goes on finds the same openings
            self._engine = Engine(self._game, evaluator, deterministic=True, reuse_tree=False)
        return self._engine.search(state, simulations=self._rules.simulations).value

    def _key(self, state: State) -> object:
        """Equal for equal positions; a user's position is told by its moves alone."""
        return state.hash() if self._game.has_board else tuple(state.history())


def _wins_at_once(state: State) -> bool:
    """Whether the player to move has a move that wins."""
    player = state.current_player()
    for action in state.legal_actions():
        following = state.clone()
        following.apply_action(action)
        if following.is_terminal() and following.returns()[player] > 0:
            return True
    return False


def _sequences(openings: Any) -> list[tuple[int, ...]]:
    """The openings that were given. Raises ConfigError for what are none."""
    try:
        given = [tuple(operator.index(move) for move in moves) for moves in openings]
    except TypeError:
        given = []
    if not given:
        raise ConfigError(
            f"openings: expected Openings or sequences of actions, got {repr_with_type(openings)}"
        )
    return given
