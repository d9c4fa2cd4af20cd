"""The engine as the opponent in a Gymnasium environment: examples/gymnasium_env.py."""

from __future__ import annotations

import importlib
import random
import warnings
from typing import Any

import numpy as np
import pytest

import pyengine
from toy_games import Matches, Pairs, ToyGame

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is missing (extra: test)")
checker = importlib.import_module("gymnasium.utils.env_checker")
example = importlib.import_module("gymnasium_env")


class SeenMatches(Matches):
    def observation_tensor(self) -> Any:
        return np.eye(12)[self.left]


class SeenPairs(Pairs):
    def observation_tensor(self) -> Any:
        return np.isin(np.arange(20), self.moves)


def play(env: Any, rng: random.Random, seed: int | None = None) -> tuple[list[int], float]:
    """Play a game of random legal actions; return all moves and the reward."""
    _, info = env.reset(seed=seed)
    is_over, reward = False, 0.0
    while not is_over:
        assert reward == 0.0
        assert env.state.current_player() == env.side
        legal = np.flatnonzero(info["action_mask"]).tolist()
        assert legal == env.state.legal_actions()
        observation, reward, is_over, is_cut, info = env.step(rng.choice(legal))
        assert observation in env.observation_space
        assert not is_cut
    return env.state.history(), reward


@pytest.mark.parametrize(
    ("game", "evaluator", "side"),
    [
        ("connect4", None, 0),
        ("connect4", None, 1),
        ("tic_tac_toe", "rollout", None),
        ("othello", "uniform", None),  # most actions are illegal
        ("go(board_size=5)", "rollout", 1),
        (ToyGame(SeenMatches), "rollout", 1),
    ],
)
def test_gymnasium_accepts_the_environment(game: Any, evaluator: Any, side: Any) -> None:
    arguments = {"game": game, "evaluator": evaluator, "side": side, "simulations": 20}
    gymnasium.register("pyengine/Game-v0", example.EngineEnv, kwargs=arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "(?s).*infinity")  # the planes of a user's game
            checker.check_env(gymnasium.make("pyengine/Game-v0").unwrapped)
    finally:
        del gymnasium.registry["pyengine/Game-v0"]


@pytest.mark.parametrize("side", [0, 1, None])
@pytest.mark.parametrize("game", ["tic_tac_toe", "othello(board_size=4)", ToyGame(SeenPairs)])
def test_the_agent_plays_its_side_and_gets_the_result(
    game: Any, side: int | None, rng: random.Random
) -> None:
    env = example.EngineEnv(game, "uniform", side=side, simulations=8)
    for _ in range(4):
        _, reward = play(env, rng)
        assert side in (None, env.side)
        assert reward == env.state.returns()[env.side]
    env.close()


@pytest.mark.parametrize(("side", "reward"), [(0, 1.0), (1, -1.0)])
def test_the_first_player_wins_a_won_game(side: int, reward: float) -> None:
    env = example.EngineEnv(ToyGame(SeenMatches), "rollout", side=side, simulations=3000)
    env.reset(seed=1)
    outcome = (None, 0.0, False)
    while not outcome[2]:
        outcome = env.step(pyengine.solve(env.state).action)
    assert outcome[1] == reward
    env.close()


def test_a_seed_repeats_a_game_and_its_successor() -> None:
    env = example.EngineEnv("connect_four", "rollout", side=None, simulations=30, temperature=1.0)
    games = [
        [play(env, random.Random(number), seed if number == 0 else None) for number in range(2)]
        for seed in (1, 1, 2)
    ]
    env.close()
    assert games[0] == games[1]
    assert games[0] != games[2]


def test_the_agent_is_either_side_if_none_is_given(rng: random.Random) -> None:
    env = example.EngineEnv("tic_tac_toe", "uniform", side=None, simulations=2)
    sides = set()
    for seed in range(8):
        play(env, rng, seed)
        sides.add(env.side)
    env.close()
    assert sides == {0, 1}


def test_an_illegal_action_loses() -> None:
    env = example.EngineEnv("tic_tac_toe", "uniform", side=1, simulations=2)
    env.reset(seed=0)
    [taken] = env.state.history()
    _, reward, is_over, is_cut, _ = env.step(taken)
    assert (reward, is_over, is_cut) == (-1.0, True, False)
    env.close()


def test_a_finished_game_has_no_planes_and_no_legal_action(rng: random.Random) -> None:
    env = example.EngineEnv("tic_tac_toe", "uniform", simulations=2, render_mode="ansi")
    play(env, rng, 0)
    observation, info = env._observed()
    assert not observation.any()
    assert not info["action_mask"].any()
    assert env.render() == str(env.state)
    env.close()
