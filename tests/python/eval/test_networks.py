"""Third-party networks: planes and evaluations equal those of their own software."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import Engine, ModelError, State, load_game
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import ModelSpec
from third_party_networks import NETWORKS


@dataclass
class Opened:
    """A network and its test cases."""

    states: list[State]
    cases: dict[str, Any]
    evaluator: OnnxEvaluator
    spec: ModelSpec


@pytest.fixture(params=sorted(NETWORKS))
def opened(request: pytest.FixtureRequest, shared: Callable[..., Path]) -> Opened:
    """Open a network on the CPU with the states of its test cases."""
    network = NETWORKS[request.param]
    game = load_game(network.game)
    with np.load(shared("nets", f"{request.param}_cases.npz")) as file:
        cases = dict(file)
    states = [
        game.new_initial_state([int(move) for move in moves if move >= 0])
        for moves in cases["moves"]
    ]
    path = shared("nets", f"{request.param}.onnx")
    return Opened(states, cases, OnnxEvaluator(path, network.spec, providers=["cpu"]), network.spec)


def expected_value(spec: ModelSpec, value: np.ndarray) -> np.ndarray:
    """Return the value for the mover according to the network's own software."""
    if spec.value == "scalar":
        return value[:, 0]
    parts = np.exp(value)
    return parts[:, spec.value.index("win")] - parts[:, spec.value.index("loss")]


def expected_policy(spec: ModelSpec, state: State, policy: np.ndarray) -> np.ndarray:
    """Return the probabilities over the legal actions in the engine's order."""
    height, width = state.game.board_shape
    if spec.policy_rows == "bottom_up":
        board = policy[: height * width].reshape(height, width)[::-1]
        policy = np.concatenate([board.reshape(-1), policy[height * width :]])
    weights = policy if spec.policy == "probs" else np.exp(policy - policy.max())
    legal = np.zeros_like(weights)
    legal[state.legal_actions()] = 1
    return weights * legal / np.sum(weights * legal)


def test_planes_equal_those_of_the_networks_own_software_bit_for_bit(opened: Opened) -> None:
    for state, planes in zip(opened.states, opened.cases["planes"], strict=True):
        ours = state.observation_tensor(opened.spec)
        assert ours.dtype == np.float32
        assert np.array_equal(ours, planes)


def test_policy_and_value_equal_those_of_the_networks_own_software(opened: Opened) -> None:
    policy, value = opened.evaluator.evaluate(opened.states)
    assert policy.dtype == value.dtype == np.float32
    np.testing.assert_allclose(
        value, expected_value(opened.spec, opened.cases["value"]), rtol=0, atol=1e-4
    )
    for i, state in enumerate(opened.states):
        if state.is_terminal():
            continue
        expected = expected_policy(opened.spec, state, opened.cases["policy"][i])
        np.testing.assert_allclose(policy[i], expected, rtol=0, atol=1e-4)


def moved_action(state: State, action: int, k: int) -> int:
    """Return an action under symmetry ``k`` (bits: mirror columns, rows, transpose)."""
    height, width = state.game.board_shape
    if state.game.num_distinct_actions() == width:  # columns
        return width - 1 - action if k & 1 else action
    if action >= height * width:
        return action
    row, column = divmod(action, width)
    if k & 4:
        row, column = column, row
    return (height - 1 - row if k & 2 else row) * width + (width - 1 - column if k & 1 else column)


def start_is_symmetric(state: State, k: int) -> bool:
    """Return whether symmetry ``k`` keeps the start: half of them move Othello's four discs."""
    return state.game.name != "othello" or (bool(k & 1) == bool(k & 2))


def test_the_mean_over_the_symmetries_is_equivariant(opened: Opened) -> None:
    states = [state for state in opened.states if not state.is_terminal()][:4]
    policy, value = opened.evaluator.evaluate(states, symmetry="average")
    for k in range(states[0].game.num_symmetries):
        if not start_is_symmetric(states[0], k):
            continue
        moved = [
            state.game.new_initial_state([moved_action(state, a, k) for a in state.history()])
            for state in states
        ]
        moved_policy, moved_value = opened.evaluator.evaluate(moved, symmetry="average")
        np.testing.assert_allclose(moved_value, value, rtol=0, atol=1e-5)
        actions = [moved_action(states[0], a, k) for a in range(policy.shape[1])]
        np.testing.assert_allclose(moved_policy[:, actions], policy, rtol=0, atol=1e-5)


def test_a_network_without_a_spec_is_refused_if_its_shapes_are_ambiguous(
    shared: Callable[..., Path],
) -> None:
    for name in ("gomoku8x8_5", "go9x9_pyaq", "connect4_sunshine", "tictactoe_skyzero"):
        with pytest.raises(ModelError, match=r"planes float32\[N,"):
            OnnxEvaluator(shared("nets", f"{name}.onnx"))
    with pytest.warns(UserWarning, match=r"assumed ModelSpec\(planes=\('own\[0\]', 'opp\[0\]'\)"):
        evaluator = OnnxEvaluator(shared("nets", "othello8x8_ludax.onnx"))
    assert evaluator.spec == ModelSpec(planes=("own[0]", "opp[0]"))


def test_the_search_beats_the_bare_policy(shared: Callable[..., Path]) -> None:
    """Plays twelve openings of four random moves with both colours."""
    network = NETWORKS["gomoku6x6_4"]
    evaluator = OnnxEvaluator(shared("nets", "gomoku6x6_4.onnx"), network.spec, providers=["cpu"])
    engine = Engine(network.game, evaluator, deterministic=True, threads=1)
    games = []
    for seed in range(12):
        start, rng = engine.game.new_initial_state(), random.Random(seed)
        for _ in range(4):
            start.apply_action(rng.choice(start.legal_actions()))
        games += [(start.clone(), searcher) for searcher in (0, 1)]
    while running := [game for game in games if not game[0].is_terminal()]:
        thinking = [state for state, searcher in running if state.current_player() == searcher]
        bare = [state for state, searcher in running if state.current_player() != searcher]
        results = engine.search_many(thinking, simulations=48, batch_size=16)
        for state, result in zip(thinking, results, strict=True):
            state.apply_action(result.action)
        if bare:
            policy, _ = engine.evaluator.evaluate(bare)
            for state, row in zip(bare, policy, strict=True):
                state.apply_action(int(row.argmax()))
    score = sum(state.returns()[searcher] for state, searcher in games)
    assert score > 0, f"{score} of {len(games)}"
