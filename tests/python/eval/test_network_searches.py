"""Searches with networks: playing strength and number of evaluations."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import pyengine
from pyengine import OnnxEvaluator, State
from third_party_networks import NETWORKS


def engine_of(name: str, shared: Callable[..., Path]) -> pyengine.Engine:
    """Return a deterministic engine."""
    network = NETWORKS[name]
    evaluator = OnnxEvaluator(shared("nets", f"{name}.onnx"), spec=network.spec, providers=["cpu"])
    return pyengine.Engine(network.game, evaluator, deterministic=True, threads=1)


def opening(engine: pyengine.Engine, rng: random.Random) -> State:
    """Return a state after two random moves of each player."""
    state = engine.game.new_initial_state()
    for _ in range(2 if engine.game.name == "tic_tac_toe" else 4):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("name", ["gomoku6x6_4", "tictactoe_skyzero"])
def test_the_search_beats_the_bare_policy(name: str, shared: Callable[..., Path]) -> None:
    """Plays twelve openings with both colours."""
    engine = engine_of(name, shared)
    starts = [opening(engine, random.Random(seed)) for seed in range(12)]
    games = [(start.clone(), searcher) for start in starts for searcher in (0, 1)]
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
