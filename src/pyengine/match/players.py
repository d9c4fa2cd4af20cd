"""Who plays a match: engines, functions, and whatever searches many states at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.bundled import sha256_of
from pyengine.config import SearchConfig
from pyengine.engine import Engine
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.evaluators import Evaluator, OnnxEvaluator
from pyengine.games import Game, State
from pyengine.match.simple import ValuePlayer

__all__ = ["Player", "describe_evaluator", "player_of"]


@dataclass(frozen=True)
class Player:
    """A player of a match.

    Attributes:
        choose: an action for each of several states.
        description: what a record of the match says of it, plain values.
        game: that it plays; None: any.
        batch_size: rows that it judges at once; 0 where it has no batches.
        timed: whether it has a budget in seconds.
        role: "a" or "b", for messages.

    """

    choose: Callable[[Sequence[State]], list[int]]
    description: Any
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
            choose=lambda states: _actions_of(given, states),
            description=_describe_engine(given),
            game=given.game,
            batch_size=given.config.batch_size,
            timed=given.config.seconds is not None,
            role=role,
        )
    if callable(getattr(given, "search_many", None)):
        return Player(
            choose=lambda states: _actions_of(given, states),
            description=_describe_object(given),
            game=getattr(given, "game", None),
            role=role,
        )
    if callable(given):
        return Player(
            choose=lambda states: [int(given(_seen_by_users(state))) for state in states],
            description=_describe_object(given),
            role=role,
        )
    raise ConfigError(
        f"{role}: expected an Engine, a function state -> action, or an object with "
        f"search_many(states), found {given!r}"
    )


def _actions_of(searcher: Any, states: Sequence[State]) -> list[int]:
    return [int(result.action) for result in searcher.search_many(states)]


def _seen_by_users(state: State) -> Any:
    """A user's own state where the game is a user's, else the engine's; a copy."""
    own = _core.unwrap_state(state)
    return state.clone() if own is None else own


def _describe_engine(engine: Engine) -> dict[str, Any]:
    default = SearchConfig()
    settings = {
        field.name: getattr(engine.config, field.name)
        for field in fields(default)
        if getattr(engine.config, field.name) != getattr(default, field.name)
    }
    return {
        "evaluator": describe_evaluator(engine.evaluator),
        "settings": settings,  # for readers; the fingerprint covers all
        "config": engine.config.fingerprint(),
    }


def describe_evaluator(evaluator: Evaluator) -> Any:
    """Return what a record says of an evaluator: a network is its content, wherever it lies."""
    if isinstance(evaluator, OnnxEvaluator):
        spec = None if evaluator.spec is None else evaluator.spec.to_json()
        return {"network": sha256_of(Path(evaluator.path))[:16], "spec": spec}
    return repr(evaluator)


def _describe_object(given: Any) -> Any:
    """A name that is the same in the next process: no address."""
    if isinstance(given, ValuePlayer):
        return {"values": describe_evaluator(given.evaluator), "ends": given.ends}
    text = repr(given)
    return (
        str(getattr(given, "__qualname__", type(given).__qualname__)) if " at 0x" in text else text
    )
