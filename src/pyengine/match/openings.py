"""The openings of a match, each drawn from its own random stream."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pyengine.base.checks import check_choice, integer, number, repr_with_type
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import as_evaluator
from pyengine.games.game import Game, State
from pyengine.match.identity import identity_of
from pyengine.search.engine import Engine

_TRIES = 500  # candidates for one opening
_NEW_TRIES = 100  # of these, only positions that have not occurred yet are accepted


@dataclass(frozen=True, kw_only=True)
class Openings:
    """How openings are generated. After an opening the game is not over and has no win in one.

    Positions are distinct if there are enough of them. In sharp games random moves are often
    decisive: draw them from a policy instead (``moves="policy"``), or accept only positions whose
    value is near 0 (``max_value``).

    Attributes:
        plies: length of an opening, at least 0.
        moves: draw moves uniformly ("random"), or from the policy of ``evaluator`` ("policy").
        evaluator: anything that an Engine accepts; required for ``moves="policy"`` and
            ``max_value``.
        temperature: of the policy, above 0; probabilities are raised to the power
            1 / ``temperature``.
        max_value: largest accepted absolute value of a position by ``evaluator``, in (0, 1];
            None = any.
        simulations: of the search for that value; 0 = no search.
    """

    plies: int = 4
    moves: Literal["random", "policy"] = "random"
    evaluator: Any = None
    temperature: float = 1.0
    max_value: float | None = None
    simulations: int = 0

    def __post_init__(self) -> None:
        for name in ("plies", "simulations"):
            object.__setattr__(self, name, integer(f"openings: {name}", getattr(self, name), 0))
        check_choice("openings: moves", self.moves, ("random", "policy"))
        number("openings: temperature", self.temperature, "a number > 0", lambda t: t > 0)
        if self.max_value is not None:
            expected = "a number in (0, 1] or None"
            number("openings: max_value", self.max_value, expected, lambda v: 0 < v <= 1)
        if self.evaluator is None and (self.moves == "policy" or self.max_value is not None):
            raise ConfigError('openings: evaluator: required for moves="policy" and max_value')


class Book:
    """The numbered openings of a match, generated on demand.

    An opening depends on the seed and its number; earlier openings matter only in that positions
    are distinct.
    """

    def __init__(self, game: Game, openings: Openings | Sequence[Sequence[int]], seed: int) -> None:
        self._game = game
        self._seed = seed
        self._seen: set[object] = set()
        self._engine: Engine | None = None
        if isinstance(openings, Openings):
            self._rules, self._fixed = openings, None
        else:
            self._rules, self._fixed = Openings(), _sequences(openings)
        given = self._rules.evaluator
        self._evaluator = None if given is None else as_evaluator(given)

    def check_size(self, count: int) -> None:
        """Raise ConfigError if there are fewer fixed openings."""
        if self._fixed is not None and len(self._fixed) < count:
            raise ConfigError(
                f"openings: expected at least {count}, one per two games, got {len(self._fixed)}"
            )

    def identity(self) -> Any:
        """Return the openings as plain values, see :func:`identity_of`."""
        if self._fixed is not None:
            return [list(moves) for moves in self._fixed]
        evaluator = None if self._evaluator is None else identity_of(self._evaluator)
        return {**vars(self._rules), "evaluator": evaluator}

    def add(self, state: State) -> None:
        """Mark a position as used, so that no other opening leads to it."""
        self._seen.add(self._key(state))

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the actions of an opening. Raises ConfigError if no candidate is accepted."""
        if self._fixed is not None:
            return self._fixed[number]
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
        balanced = "" if self._rules.max_value is None else " and balanced"
        raise ConfigError(
            f"openings: none of {_TRIES} candidates with {self._rules.plies} plies left "
            f"{self._game} open{balanced}: {self._rules}"
        )

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _candidate(self, rng: np.random.Generator) -> State | None:
        """Return a random position, or None if its game is decided."""
        state = self._game.new_initial_state()
        for _ in range(self._rules.plies):
            state.apply_action(self._move(state, rng))
            if state.is_terminal():
                return None
        return None if _has_winning_move(state) else state

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
        if self._rules.simulations == 0:
            value = float(self._evaluator.evaluate([state], game=self._game)[1][0])
        else:
            if self._engine is None:  # deterministic: a resumed match needs the same openings
                self._engine = Engine(
                    self._game, self._evaluator, deterministic=True, reuse_tree=False
                )
            value = self._engine.search(state, simulations=self._rules.simulations).value
        return abs(value) <= self._rules.max_value

    def _key(self, state: State) -> object:
        """Return equal keys for equal positions; a user's position is keyed by its moves."""
        return state.hash() if self._game.has_board else tuple(state.history())


def _has_winning_move(state: State) -> bool:
    player = state.current_player()
    for action in state.legal_actions():
        following = state.clone()
        following.apply_action(action)
        if following.is_terminal() and following.returns()[player] > 0:
            return True
    return False


def _sequences(openings: Any) -> list[tuple[int, ...]]:
    try:
        sequences = [tuple(operator.index(move) for move in moves) for moves in openings]
    except TypeError:
        sequences = []
    if not sequences:
        raise ConfigError(
            f"openings: expected Openings or sequences of actions, got {repr_with_type(openings)}"
        )
    return sequences
