"""Who plays a match: engines, functions, and whatever searches many states at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyengine import _core
from pyengine.base.arguments import repr_with_type, short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State
from pyengine.search.engine import Engine


@dataclass(frozen=True)
class Player:
    """A player of a match.

    Attributes:
        choose: an action for each of several states.
        given: what the user gave.
        game: that it plays; None: any.
        batch_size: rows that it evaluates at once; 0 where it has no batches.
        timed: whether it has a budget in seconds.
        role: "a" or "b", for messages.

    """

    choose: Callable[[Sequence[State]], list[int]]
    given: Any
    game: Game | None = None
    batch_size: int = 0
    timed: bool = False
    role: str = ""

    def apply(self, state: State, action: int) -> None:
        """Play a move of this player. Raises IllegalActionError that names the player."""
        try:
            state.apply_action(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"player {self.role}: {error}") from error


def player_of(given: Any, role: str) -> Player:
    """Return what plays as a player. Raises ConfigError."""
    if isinstance(given, Engine):
        return Player(
            choose=lambda states: _actions_of(given, states, role),
            given=given,
            game=given.game,
            batch_size=given.config.batch_size,
            timed=given.config.seconds is not None,
            role=role,
        )
    if callable(getattr(given, "search_many", None)):
        return Player(
            choose=lambda states: _actions_of(given, states, role),
            given=given,
            game=getattr(given, "game", None),
            role=role,
        )
    if callable(given):
        return Player(
            choose=lambda states: [_action(given(_seen_by_users(one)), role) for one in states],
            given=given,
            role=role,
        )
    raise ConfigError(
        f"{role}: expected an Engine, a function state -> action, or an object with "
        f"search_many(states), got {short_repr(given)}"
    )


def _actions_of(searcher: Any, states: Sequence[State], role: str) -> list[int]:
    """What a searcher chose for each state. Raises ConfigError for an answer of another kind."""
    answer = searcher.search_many(states)
    try:
        pairs = zip(states, answer, strict=True)
        return [_action(result.action, role) for _, result in pairs]
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"player {role}: search_many() must return a list of {len(states)} results that have "
            f"an action, got {repr_with_type(answer)}"
        ) from error


def _action(answer: Any, role: str) -> int:
    """The int that a player answers. Raises ConfigError, as State.apply_action."""
    try:
        return operator.index(answer)
    except TypeError:
        raise ConfigError(
            f"player {role}: expected an action, an int, got {repr_with_type(answer)}"
        ) from None


def _seen_by_users(state: State) -> Any:
    """A user's own state where the game is a user's, else the engine's; a copy."""
    own = _core.unwrap_state(state)
    return state.clone() if own is None else own
