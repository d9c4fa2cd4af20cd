"""A search with somebody's network sees what the network alone may miss."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import pyengine
from pyengine import OnnxEvaluator, State
from third_party_networks import NETWORKS

LINES = ["gomoku6x6_4", "tictactoe_skyzero"]


def engine_of(name: str, shared: Callable[..., Path]) -> pyengine.Engine:
    """Return an engine whose results repeat."""
    network = NETWORKS[name]
    evaluator = OnnxEvaluator(shared("nets", f"{name}.onnx"), spec=network.spec, providers=["cpu"])
    return pyengine.Engine(network.game, evaluator, deterministic=True, threads=1)


def wins(state: State, player: int) -> list[int]:
    """Return the moves that win at once for a player, as if he were to move."""
    board = state.game.state_from_board(state.board_rows(), player=player)
    found = []
    for action in board.legal_actions():
        after = board.clone()
        after.apply_action(action)
        if after.is_terminal() and after.returns()[player] == 1:
            found.append(action)
    return found


def positions(engine: pyengine.Engine, *, threat: bool, count: int) -> list[tuple[State, int]]:
    """Return positions with one winning move of the mover, or of his opponent alone.

    From games in which the network's policy is drawn from: on boards of random stones it may give
    a winning move next to no prior, and a search needs thousands of simulations to come by.
    """
    rng = random.Random(7)
    found: list[tuple[State, int]] = []
    while len(found) < count:
        state = engine.game.new_initial_state()
        while not state.is_terminal():
            mover = state.current_player()
            own, other = wins(state, mover), wins(state, 1 - mover)
            wanted = other if threat and not own else own if not threat else []
            if len(wanted) == 1:
                found.append((state.clone(), wanted[0]))
                break
            policy, _ = engine.evaluator.evaluate([state])
            state.apply_action(rng.choices(range(policy.shape[1]), policy[0])[0])
    return found


@pytest.mark.parametrize("threat", [False, True], ids=["taken", "blocked"])
@pytest.mark.parametrize("name", LINES)
def test_the_win_in_one_is(name: str, threat: bool, shared: Callable[..., Path]) -> None:
    engine = engine_of(name, shared)
    for state, action in positions(engine, threat=threat, count=3):
        result = engine.search(state, simulations=400)
        if threat and loses(engine, state, action):  # a second threat: nothing to be found
            continue
        # The solver ends at the first win it proves, which may be a longer one.
        assert result.action == action or result.proven == 1, f"\n{result}"


def loses(engine: pyengine.Engine, state: State, action: int) -> bool:
    """Say whether the opponent is proven to win after a move."""
    after = state.clone()
    after.apply_action(action)
    return not after.is_terminal() and engine.search(after, simulations=2000).proven == 1


def opening(engine: pyengine.Engine, rng: random.Random) -> State:
    """Return a state after two random moves of each player."""
    state = engine.game.new_initial_state()
    for _ in range(2 if engine.game.name == "tic_tac_toe" else 4):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("name", ["gomoku6x6_4", "othello8x8_ludax", "tictactoe_skyzero"])
def test_the_search_beats_the_bare_policy(name: str, shared: Callable[..., Path]) -> None:
    """Twelve openings, both colours, all games side by side."""
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
