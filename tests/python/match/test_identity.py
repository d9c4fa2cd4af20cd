"""The identity of players in a record: only a match of the same players is resumed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, RandomPlayer
from pyengine.match.identity import identity_of
from tiny_models import TinyModel
from toy_games import Pairs, ToyGame, ToyState


def first(state: Any) -> int:
    return int(state.legal_actions()[0])


def last(state: Any) -> int:
    return int(state.legal_actions()[-1])


class Fixed:
    """Plays the legal action at an index."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.identity = f"fixed {index}"

    def __call__(self, state: Any) -> int:
        return int(state.legal_actions()[self.index])


def merged(tmp_path: Path, one: Any, other: Any, game: str = "tic_tac_toe") -> bool:
    """Return whether a record of one player can be continued with the other."""
    file = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"

    def play(player: Any) -> None:
        pyengine.match(player, RandomPlayer(), game=game, games=2, record=file)

    play(one)
    try:
        play(other)
    except ConfigError as error:
        if "record of another match: a: " not in str(error):
            raise
        return False
    return True


def test_python_players_are_identified_by_their_identity_or_their_name(tmp_path: Path) -> None:
    assert not merged(tmp_path, first, last)
    assert merged(tmp_path, first, first)
    assert not merged(tmp_path, Fixed(0), Fixed(-1))
    assert merged(tmp_path, Fixed(-1), Fixed(-1))


def test_a_random_player_is_identified_by_its_seed() -> None:
    assert identity_of(RandomPlayer(1)) != identity_of(RandomPlayer(2))


class Lowest:
    def __init__(self, depth: int) -> None:
        self.depth = depth

    def __call__(self, state: Any) -> int:
        return int(min(state.legal_actions()))


def test_players_with_different_values_are_different() -> None:
    assert identity_of(Lowest(1)) == identity_of(Lowest(1)) != identity_of(Lowest(2))
    assert identity_of(partial(max, key=1)) != identity_of(partial(max, key=2))


@pytest.mark.parametrize(
    "player",
    [lambda state: 0, RandomPlayer(np.random.default_rng(1)), Lowest([1])],  # type: ignore[arg-type]
)
def test_a_player_that_cannot_be_identified_is_refused(player: Any) -> None:
    with pytest.raises(pyengine.ConfigError, match="attribute identity"):
        identity_of(player)


def engine(evaluator: Any) -> pyengine.Engine:
    """Return an engine that searches little."""
    return pyengine.Engine("tic_tac_toe", evaluator, simulations=4, threads=1)


def uniform(planes: Any) -> Any:
    return [[0.0] * 9] * len(planes), [0.0] * len(planes)


def optimistic(planes: Any) -> Any:
    return [[0.0] * 9] * len(planes), [0.5] * len(planes)


def test_evaluators_are_identified_by_their_functions(tmp_path: Path) -> None:
    states = pyengine.StateEvaluator
    assert not merged(tmp_path, engine(uniform), engine(optimistic))
    assert merged(tmp_path, engine(uniform), engine(uniform))
    assert not merged(tmp_path, engine(states(uniform)), engine(states(optimistic)))


def test_a_mixed_evaluator_is_identified_by_its_parts(tmp_path: Path) -> None:
    models = []
    for bias in (0, 1):
        folder = tmp_path / f"models{bias}"
        folder.mkdir()
        content = bytearray(TinyModel().write(folder / "m.onnx").read_bytes())
        content[content.index(b"\x4a") + 9] ^= bias  # a weight
        (folder / "m.onnx").write_bytes(content)
        models.append(pyengine.OnnxEvaluator(folder / "m.onnx", pyengine.ModelSpec()))

    def mixed(model: Any, rollouts: int = 1, mix: float = 0.5) -> pyengine.Engine:
        rollout = pyengine.RolloutEvaluator(rollouts)
        return engine(pyengine.MixedEvaluator(model, rollout, mix))

    assert not merged(tmp_path, mixed(models[0]), mixed(models[1]))
    assert not merged(tmp_path, mixed(models[0]), mixed(models[0], mix=0.25))
    assert not merged(tmp_path, mixed(models[0]), mixed(models[0], rollouts=2))
    assert merged(tmp_path, mixed(models[0]), mixed(models[0]))


def test_a_rollout_policy_is_identified_by_its_weights(tmp_path: Path) -> None:
    def player(weight: float) -> pyengine.Engine:
        none = np.zeros(65536)
        policy = pyengine.RolloutPolicy(none, none, {"atari": weight})
        return pyengine.Engine("go(board_size=3)", pyengine.PolicyEvaluator(policy), simulations=4)

    assert not merged(tmp_path, player(0.5), player(1.0), "go(board_size=3)")
    assert merged(tmp_path, player(0.5), player(0.5), "go(board_size=3)")


def test_external_weights_belong_to_a_network(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    file, weights = tmp_path / "m.onnx", tmp_path / "weights"
    model = onnx.load(TinyModel().write(file))
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    one = engine(pyengine.OnnxEvaluator(file, pyengine.ModelSpec()))
    games = tmp_path / "games.jsonl"
    pyengine.match(one, RandomPlayer(), games=2, record=games)
    weights.write_bytes(bytes(weights.stat().st_size))
    other = engine(pyengine.OnnxEvaluator(file, pyengine.ModelSpec()))
    with pytest.raises(ConfigError, match="another match: a: "):
        pyengine.match(other, RandomPlayer(), games=2, record=games)


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


def test_an_engine_of_a_users_class_is_not_a_plain_engine() -> None:
    class Careless(pyengine.Engine):
        pass

    with Careless("tic_tac_toe", "uniform") as own, pyengine.Engine("tic_tac_toe", "uniform") as e:
        assert identity_of(own) != identity_of(e)
        own.identity = "careless"  # type: ignore[attr-defined]
        assert identity_of(own) == {"identity": "careless"}


def test_games_of_one_name_are_distinguished_by_their_states(tmp_path: Path) -> None:
    class Single(ToyState):
        actions = 20

        def is_terminal(self) -> bool:
            return len(self.moves) == 19

    record = tmp_path / "games.jsonl"
    pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Pairs), games=2, record=record)
    pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Pairs), games=2, record=record)
    with pytest.raises(ConfigError, match="rules: expected"):
        pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Single), games=2, record=record)
