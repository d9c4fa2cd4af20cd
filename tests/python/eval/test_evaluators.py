"""Direct evaluation of states: probabilities over the legal actions, a value for the mover."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from positions import random_state
from pyengine import ConfigError, Engine, ModelError, load_game
from pyengine.eval.evaluators import (
    CallbackEvaluator,
    Evaluator,
    MixedEvaluator,
    OnnxEvaluator,
    RolloutEvaluator,
    StateEvaluator,
    UniformEvaluator,
    as_evaluator,
    bundled_models,
)
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import as_game
from tiny_models import DEFAULT, TinyModel
from toy_games import Pairs, ToyGame
from zero_network import zero_network


@pytest.mark.parametrize("symmetry", ["none", "average"])
@pytest.mark.parametrize(
    "make", [UniformEvaluator, RolloutEvaluator, lambda: MixedEvaluator("uniform", "rollout")]
)
def test_equal_priors_over_the_legal_actions(
    symmetry: str, make: Callable[[], Evaluator], rng: Any
) -> None:
    game = load_game("connect_four")
    states = [random_state(game, rng.randrange(30), rng) for _ in range(10)]
    states[3] = game.new_initial_state([0, 1, 0, 1, 0, 1, 0])  # terminal
    policy, value = make().evaluate(states, symmetry=symmetry)
    assert policy.shape == (10, 7)
    assert value.shape == (10,)
    assert policy.dtype == value.dtype == np.float32
    assert np.all(np.abs(value) <= 1)
    for row, state in zip(policy, states, strict=True):
        legal = state.legal_actions()
        assert np.all(row[legal] == np.float32(1) / np.float32(max(1, len(legal))))
        assert np.delete(row, legal).sum() == 0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: CallbackEvaluator(zero_network(), "NCHW"), "spec"),
        (lambda: OnnxEvaluator("m.onnx", device_id=-1), "device_id"),
        (lambda: OnnxEvaluator("m.onnx", threads="2"), "threads"),
        (lambda: OnnxEvaluator("m.onnx", threads=0), "threads"),
        (lambda: OnnxEvaluator("m.onnx", max_batch=0), "max_batch"),
        (lambda: as_evaluator("no such thing"), "no such thing"),
        (lambda: as_evaluator(3), "int"),
    ],
)
def test_an_argument_out_of_range_is_named(call: Callable[[], Any], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        call()


def test_states_that_do_not_fit_are_refused() -> None:
    state = load_game("tic_tac_toe").new_initial_state()
    other = load_game("connect_four").new_initial_state()
    uniform = UniformEvaluator()
    for wrong in (state, 3, [3], [state, other], [state, None]):
        with pytest.raises(ConfigError):
            uniform.evaluate(wrong)
    with pytest.raises(ConfigError, match="symmetry"):
        uniform.evaluate([state], symmetry="all")
    policy, value = uniform.evaluate([state])
    assert policy.sum() == pytest.approx(1)
    assert value[0] == 0


def test_one_evaluator_serves_games_in_turn_and_no_states() -> None:
    uniform = UniformEvaluator()
    for name in ("tic_tac_toe", "connect_four", "tic_tac_toe"):
        game = load_game(name)
        policy, _ = uniform.evaluate([game.new_initial_state()])
        assert policy.shape == (1, game.num_distinct_actions())
    assert uniform.evaluate([])[1].shape == (0,)
    policy, value = uniform.evaluate([], game=load_game("tic_tac_toe"))
    assert (policy.shape, value.shape) == ((0, 9), (0,))


def test_spec_is_none_if_no_planes_are_read() -> None:
    assert UniformEvaluator().spec is None
    assert RolloutEvaluator().spec is None
    assert StateEvaluator(lambda states: ([], [])).spec is None
    assert CallbackEvaluator(zero_network()).spec == ModelSpec()


def test_as_evaluator_accepts_names_paths_callables_and_evaluators(tmp_path: Path) -> None:
    assert isinstance(as_evaluator("uniform"), UniformEvaluator)
    assert isinstance(as_evaluator("rollout"), RolloutEvaluator)
    assert isinstance(as_evaluator(zero_network()), CallbackEvaluator)
    uniform = UniformEvaluator()
    assert as_evaluator(uniform) is uniform
    tiny = TinyModel(planes=(3, 4, 4), actions=16, metadata=DEFAULT)
    path = tiny.write(tmp_path / "m.onnx")
    assert isinstance(as_evaluator(path), OnnxEvaluator)
    assert isinstance(as_evaluator(str(path)), OnnxEvaluator)
    with pytest.raises(ModelError, match="does not exist"):
        as_evaluator(str(tmp_path / "absent.onnx"))


def test_a_bundled_name_wins_over_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = TinyModel(planes=(3, 4, 4), actions=16, metadata=DEFAULT).write(tmp_path / "connect4")
    bundled = bundled_models()["connect4"]
    for open_network in (as_evaluator, OnnxEvaluator):
        for network, expected in (
            ("connect4", bundled),
            ("./connect4", file),
            (Path("connect4"), file),
        ):
            opened = open_network(network)  # type: ignore[operator]
            assert Path(opened.path).samefile(expected), network


def test_a_state_with_the_attribute_game_is_evaluated() -> None:
    game = as_game(ToyGame(Pairs))
    state = Pairs()
    state.game = game  # type: ignore[attr-defined]
    policy, _ = UniformEvaluator().evaluate([state])
    assert policy.shape == (1, game.num_distinct_actions())


def test_every_bundled_model_is_an_evaluator() -> None:
    for name in bundled_models():
        assert isinstance(as_evaluator(name), OnnxEvaluator)


def test_a_network_behind_a_uniform_first_part_sees_the_legal_moves() -> None:
    game = load_game("connect_four")
    sums: list[float] = []

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums.extend(planes[:, 2].sum(axis=(1, 2)))
        return np.zeros((len(planes), 7), np.float32), np.zeros(len(planes), np.float32)

    network = CallbackEvaluator(evaluate, ModelSpec(planes=["own[0]", "opp[0]", "legal"]))
    mixed = MixedEvaluator("uniform", network, 0.5)
    Engine(game, mixed, threads=1).search(game.new_initial_state(), simulations=3)
    assert sums == [7.0] * len(sums)
    assert sums
