"""The identity of players in a record: only a match of the same players is resumed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, Engine, ModelSpec, OnnxEvaluator
from pyengine.eval import PolicyEvaluator, RolloutPolicy
from pyengine.match import RandomPlayer, ValuePlayer
from pyengine.match.identity import identity_of
from tiny_models import TinyModel
from toy_games import Pairs, ToyGame, ToyState


def first(state: Any) -> int:
    return int(state.legal_actions()[0])


def last(state: Any) -> int:
    return int(state.legal_actions()[-1])


class Named:
    def __init__(self, index: int) -> None:
        self.index = [index]
        self.identity = f"index {index}"


class Valued:
    def __init__(self, depth: Any) -> None:
        self.depth = depth

    def choose(self, state: Any) -> int:
        return first(state)


@dataclass
class Shown:
    depth: Any


class OwnEngine(Engine):
    pass


def uniform(planes: Any) -> Any:
    return [[0.0] * 9] * len(planes), [0.0] * len(planes)


def optimistic(planes: Any) -> Any:
    return [[0.0] * 9] * len(planes), [0.5] * len(planes)


def engine(evaluator: Any, kind: type[Engine] = Engine, **settings: Any) -> Engine:
    return kind("tic_tac_toe", evaluator, threads=1, **{"simulations": 4, **settings})


def mixed(model: str, mix: float, rollouts: int) -> pyengine.MixedEvaluator:
    network = OnnxEvaluator(pyengine.bundled_models()[model])
    return pyengine.MixedEvaluator(network, pyengine.RolloutEvaluator(rollouts), mix)


def policy(weight: float) -> Engine:
    zeros = np.zeros(65536)
    rollouts = RolloutPolicy(zeros, zeros, {"atari": weight})
    return Engine("go(board_size=3)", PolicyEvaluator(rollouts), simulations=4)


#: Functions that make a player, and two different arguments.
PLAYERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "functions": (lambda function: function, (first,), (last,)),
    "partial functions": (lambda key: partial(max, key=key), (1,), (2,)),
    "attributes identity": (Named, (0,), (1,)),
    "values of objects": (Valued, (1,), (2,)),
    "values of methods": (lambda depth: Valued(depth).choose, (1,), (2,)),
    "reprs of objects": (Shown, (1,), (2,)),
    "seeds": (RandomPlayer, (1,), (2,)),
    "searches": (lambda n: engine("uniform", simulations=n), (4,), (5,)),
    "classes of engines": (lambda kind: engine("uniform", kind), (Engine,), (OwnEngine,)),
    "functions of planes": (engine, (uniform,), (optimistic,)),
    "functions of states": (
        lambda function: engine(pyengine.StateEvaluator(function)), (uniform,), (optimistic,)
    ),
    "ends of values": (lambda ends: ValuePlayer(uniform, ends=ends), ("rules",), ("evaluator",)),
    "networks of a mix": (mixed, ("connect4", 0.5, 1), ("othello", 0.5, 1)),
    "shares of a mix": (mixed, ("connect4", 0.5, 1), ("connect4", 0.25, 1)),
    "rollouts of a mix": (mixed, ("connect4", 0.5, 1), ("connect4", 0.5, 2)),
    "weights of rollouts": (policy, (0.5,), (1.0,)),
}  # fmt: skip


@pytest.mark.parametrize(("make", "one", "other"), PLAYERS.values(), ids=PLAYERS)
def test_equal_players_have_one_identity_and_different_ones_have_two(
    make: Callable[..., Any], one: tuple[Any, ...], other: tuple[Any, ...]
) -> None:
    assert identity_of(make(*one)) == identity_of(make(*one)) != identity_of(make(*other))


@pytest.mark.parametrize(
    "player",
    [
        lambda state: 0,
        RandomPlayer(np.random.default_rng(1)),
        Valued([1]),
        Shown(Valued(1)),
        partial(max, key=lambda action: action),
    ],
    ids=["lambda", "generator", "list", "repr with an address", "partial with an address"],
)
def test_a_player_that_cannot_be_identified_needs_a_name(player: Any) -> None:
    with pytest.raises(ConfigError, match="attribute identity"):
        identity_of(player)
    player.identity = "mine"
    assert identity_of(player) == {"identity": "mine"}


def test_a_network_is_identified_by_its_content_with_external_weights(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    file, copy = tmp_path / "m.onnx", tmp_path / "copy.onnx"
    model = onnx.load(TinyModel().write(file))
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    copy.write_bytes(file.read_bytes())
    one, same = (identity_of(engine(OnnxEvaluator(path, ModelSpec()))) for path in (file, copy))
    weights = tmp_path / "weights"
    weights.write_bytes(bytes(weights.stat().st_size))
    assert one == same != identity_of(engine(OnnxEvaluator(file, ModelSpec())))


@pytest.mark.parametrize("same_time", [False, True])
def test_a_network_that_has_changed_since_it_was_opened_is_refused(
    same_time: bool, tmp_path: Path
) -> None:
    file = tmp_path / "m.onnx"
    content = bytearray(pyengine.bundled_models()["tic_tac_toe"].read_bytes())
    file.write_bytes(content)
    times = file.stat()
    player = engine(file)
    if same_time:
        content[len(content) // 2] ^= 1  # a weight
        file.write_bytes(content)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    else:
        os.utime(file, (1, 1))
    with pytest.raises(ConfigError, match="has changed since it was opened"):
        pyengine.match(player, RandomPlayer(), games=2, record=tmp_path / "games.jsonl")


def test_games_of_one_name_are_distinguished_by_their_states(tmp_path: Path) -> None:
    class Single(ToyState):
        actions = 20

        def is_terminal(self) -> bool:
            return len(self.moves) == 19

    record = tmp_path / "games.jsonl"
    for _ in range(2):
        pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Pairs), games=2, record=record)
    with pytest.raises(ConfigError, match="rules: expected"):
        pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Single), games=2, record=record)
