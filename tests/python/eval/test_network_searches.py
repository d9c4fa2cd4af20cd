"""A search with a third-party network finds moves that the network alone may miss."""

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
    """Return a deterministic engine."""
    network = NETWORKS[name]
    evaluator = OnnxEvaluator(shared("nets", f"{name}.onnx"), spec=network.spec, providers=["cpu"])
    return pyengine.Engine(network.game, evaluator, deterministic=True, threads=1)


def wins(state: State, player: int) -> list[int]:
    """Return the immediately winning moves of a player, who need not be to move."""
    board = state.game.state_from_board(state.board_rows(), player=player)
    winning = []
    for action in board.legal_actions():
        after = board.clone()
        after.apply_action(action)
        if after.is_terminal() and after.returns()[player] == 1:
            winning.append(action)
    return winning


def positions(engine: pyengine.Engine, *, threat: bool, count: int) -> list[tuple[State, int]]:
    """Return positions with one winning move of the mover or, if ``threat``, of the opponent only.

    They come from games whose moves are drawn from the policy: on random boards a winning move may
    have such a small prior that the search needs thousands of simulations.
    """
    rng = random.Random(7)
    chosen: list[tuple[State, int]] = []
    while len(chosen) < count:
        state = engine.game.new_initial_state()
        while not state.is_terminal():
            mover = state.current_player()
            own, other = wins(state, mover), wins(state, 1 - mover)
            winning = other if threat and not own else own if not threat else []
            if len(winning) == 1:
                chosen.append((state.clone(), winning[0]))
                break
            policy, _ = engine.evaluator.evaluate([state])
            state.apply_action(rng.choices(range(policy.shape[1]), policy[0])[0])
    return chosen


@pytest.mark.parametrize("threat", [False, True], ids=["win", "threat"])
@pytest.mark.parametrize("name", LINES)
def test_a_win_in_one_is_taken_or_blocked(
    name: str, threat: bool, shared: Callable[..., Path]
) -> None:
    engine = engine_of(name, shared)
    for state, action in positions(engine, threat=threat, count=3):
        result = engine.search(state, simulations=400)
        if threat and loses(engine, state, action):  # there is a second threat
            continue
        # The solver stops at the first proven win, which may be a longer one.
        assert result.action == action or result.proven == 1, f"\n{result}"


def loses(engine: pyengine.Engine, state: State, action: int) -> bool:
    """Return whether the opponent is proven to win after a move."""
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
