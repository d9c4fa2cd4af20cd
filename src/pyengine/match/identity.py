"""What a record says of players and games, so that a match goes on between the same ones.

A network is the content of its files, wherever they lie; Python is its code and its values, or what
its attribute ``identity`` says. Where something runs (provider, machine) is not part of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pyengine import _core
from pyengine.base.files import why
from pyengine.errors import ConfigError, ModelError
from pyengine.eval.evaluators import (
    CallbackEvaluator,
    Evaluator,
    MixedEvaluator,
    OnnxEvaluator,
    PolicyEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
)
from pyengine.eval.onnx_files import model_digest
from pyengine.games.game import Game
from pyengine.match.code import NoDigestError, digest_of
from pyengine.match.simple import RandomPlayer, ValuePlayer
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

_DIGITS = 16  # of a network's digest


def identity_of(given: Any, what: str) -> Any:
    """Return what tells a player or an evaluator from others, plain values.

    Args:
        given: a player as :func:`pyengine.match` takes it, or an evaluator.
        what: it is, for messages.

    Raises ConfigError for what cannot be told apart and has no attribute ``identity``, and where a
    network's file was written after it was opened.
    """
    try:
        return _told(given)
    except NoDigestError as error:
        raise ConfigError(
            f"{what}: a record cannot tell whether {error} is the same when the match goes on; "
            "give the player, evaluator, function or game an attribute identity, a text that "
            "changes whenever its moves do, or leave the record out"
        ) from error


def rules_of(game: Game) -> Any:
    """Return what tells a user's game from others of its name; None for all other games.

    Raises ConfigError as :func:`identity_of`.
    """
    if not str(game).startswith("python:"):
        return None
    own = _core.unwrap_game(game)
    start = _core.unwrap_state(game.new_initial_state())
    return identity_of((own, type(start)) if _name(own) is None else own, "game")


def _told(given: Any) -> Any:
    found = _known(given)
    if found is not None:
        return found
    name = getattr(given, "__qualname__", type(given).__qualname__)
    return {"python": name, "code": digest_of(given, _known)}


def _known(given: Any) -> Any:
    """What is said of an object that is more than its code and values; None for others."""
    name = _name(given)
    if name is not None:
        return {"identity": name}
    if isinstance(given, Engine):
        return _engine(given)
    if isinstance(given, Evaluator):
        return _evaluator(given)
    if type(given) is ValuePlayer:
        return {"values": _told(given.evaluator), "ends": given.ends}
    if type(given) is RandomPlayer and not isinstance(given.seed, np.random.Generator):
        return repr(given)
    return None


def _name(given: Any) -> str | None:
    """What the user says that it is."""
    name = None if isinstance(given, type) else getattr(given, "identity", None)
    return name if isinstance(name, str) and name else None


def _engine(engine: Engine) -> dict[str, Any]:
    if not type(engine).__module__.startswith("pyengine."):
        raise NoDigestError(f"an Engine with code of its own ({type(engine).__qualname__})")
    default = SearchConfig().to_dict()
    given = engine.config.to_dict()
    settings = {name: value for name, value in given.items() if value != default[name]}
    return {
        "evaluator": _told(engine.evaluator),
        "settings": settings,  # for readers; the fingerprint covers all
        "config": engine.config.fingerprint(),
    }


def _evaluator(evaluator: Evaluator) -> Any:
    if not type(evaluator).__module__.startswith("pyengine."):
        raise NoDigestError(f"an evaluator with code of its own ({type(evaluator).__qualname__})")
    spec = None if evaluator.spec is None else evaluator.spec.to_json()
    match evaluator:
        case OnnxEvaluator():
            return {"network": _content(evaluator), "spec": spec}
        case MixedEvaluator(network=network, rollout=rollout, mix=mix):
            return {"network": _told(network), "rollout": _told(rollout), "mix": mix}
        case CallbackEvaluator(fn=fn):
            return {"planes": _told(fn), "spec": spec}
        case StateEvaluator(fn=fn):
            return {"states": _told(fn)}
        case UniformEvaluator() | RolloutEvaluator() | PolicyEvaluator():
            return repr(evaluator)
    raise NoDigestError(f"a {type(evaluator).__qualname__}")


def _content(network: OnnxEvaluator) -> str:
    path = Path(network.path)
    try:
        digest = model_digest(path)[:_DIGITS]
        if network.is_unchanged():
            return digest
    except (OSError, ModelError) as error:
        raise ConfigError(
            f"{path}: a record needs to read the network again: {why(error)}"
        ) from error
    raise ConfigError(f"{path}: expected the network as it was opened, found it written since")
