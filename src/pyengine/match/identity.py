"""The identity of players and games in a match record.

A network is identified by the content of its files, an engine by its evaluator and configuration,
and other Python objects by the attribute ``identity``, or by their qualified name and plain values.
Provider and machine do not matter.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import MethodType
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
from pyengine.games.game import Game, has_own
from pyengine.match.players import RandomPlayer, ValuePlayer
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

_DIGITS = 16  # of a network's digest


def identity_of(value: Any) -> Any:
    """Return the identity of a player or an evaluator as plain values.

    Raises:
        ConfigError: a network's file has changed since it was opened, or a function or an object
            needs an attribute ``identity``.

    """
    name = None if isinstance(value, type) else getattr(value, "identity", None)
    if isinstance(name, str) and name:
        return {"identity": name}
    kind = type(value)
    match value:
        case Engine():
            return _engine(value) | _subclass(kind)
        case Evaluator() if kind.__module__.startswith("pyengine."):
            return _evaluator(value)
        case ValuePlayer():
            players = {"values": identity_of(value.evaluator), "ends": value.ends}
            return players | _subclass(kind)
        case RandomPlayer() if isinstance(value.seed, np.random.Generator):
            raise _unidentified(value)
        case RandomPlayer():
            return repr(value) if kind is RandomPlayer else {"seed": value.seed} | _subclass(kind)
    return _python(value)


def _python(value: Any) -> dict[str, Any]:
    """Return the identity of a function by its name, and of an object by its class and values."""
    if isinstance(value, partial):
        arguments = _lasting_repr((value.args, value.keywords), value)
        return {"partial": identity_of(value.func), "of": arguments}
    name = _qualified_name(value)
    if isinstance(value, MethodType):
        return {"python": name, "of": identity_of(value.__self__)}
    if hasattr(value, "__qualname__"):
        if "<" not in name:  # neither a lambda nor a local function
            return {"python": name}
    elif has_own(value, "__repr__"):
        return {"python": name, "repr": _lasting_repr(value, value)}
    else:
        values = _plain_values(value)
        if len(values) == len(getattr(value, "__dict__", {})):
            return {"python": name} | ({"values": values} if values else {})
    raise _unidentified(value)


def _lasting_repr(value: Any, player: Any) -> str:
    """Return a repr that another process repeats. Raises ConfigError if it shows an address."""
    text = repr(value)
    if re.search(r" at 0x[0-9a-fA-F]+>", text):
        raise _unidentified(player)
    return text


def _plain_values(value: Any) -> dict[str, Any]:
    attributes = getattr(value, "__dict__", {})
    plain = bool | int | float | str | None
    return {name: each for name, each in attributes.items() if isinstance(each, plain)}


def _unidentified(value: Any) -> ConfigError:
    return ConfigError(
        f"the record cannot identify {_qualified_name(value)}: give it an attribute identity, a "
        "string that changes whenever its moves do, or do not use a record"
    )


def rules_of(game: Game) -> Any:
    """Return the identity of a user's game; None for other games."""
    if not str(game).startswith("python:"):
        return None
    own = _core.unwrap_game(game)
    if isinstance(name := getattr(own, "identity", None), str) and name:
        return {"identity": name}
    state = _core.unwrap_state(game.new_initial_state())
    rules = {"python": _qualified_name(own), "state": _qualified_name(state)}
    return rules | ({"values": values} if (values := _plain_values(own)) else {})


def _qualified_name(value: Any) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _subclass(kind: type) -> dict[str, str]:
    is_ours = kind.__module__.startswith("pyengine.")
    return {} if is_ours else {"python": _qualified_name(kind)}


def _engine(engine: Engine) -> dict[str, Any]:
    default = SearchConfig().to_dict()
    config = engine.config.to_dict()
    return {
        "evaluator": identity_of(engine.evaluator),
        # For readers; the fingerprint covers all settings.
        "settings": {name: value for name, value in config.items() if value != default[name]},
        "config": engine.config.fingerprint(),
    }


def _evaluator(evaluator: Evaluator) -> Any:
    spec = None if evaluator.spec is None else evaluator.spec.to_json()
    match evaluator:
        case OnnxEvaluator():
            return {"network": _content(evaluator), "spec": spec}
        case MixedEvaluator(network=network, rollout=rollout, mix=mix):
            return {"network": identity_of(network), "rollout": identity_of(rollout), "mix": mix}
        case CallbackEvaluator(fn=fn):
            return {"planes": identity_of(fn), "spec": spec}
        case StateEvaluator(fn=fn):
            return {"states": identity_of(fn)}
        case UniformEvaluator() | RolloutEvaluator() | PolicyEvaluator():
            return repr(evaluator)
    return {"python": _qualified_name(evaluator)}


def _content(network: OnnxEvaluator) -> str:
    path = Path(network.path)
    try:
        digest = model_digest(path)[:_DIGITS]
        if network.is_unchanged():
            return digest
    except (OSError, ModelError) as error:
        raise ConfigError(f"{path}: the record needs the file again: {why(error)}") from error
    raise ConfigError(f"{path} has changed since it was opened")
