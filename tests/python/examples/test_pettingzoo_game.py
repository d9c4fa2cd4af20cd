"""PettingZoo's environments as games: examples/pettingzoo_game.py."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import ROOT

pettingzoo = pytest.importorskip("pettingzoo", reason="PettingZoo is missing (extra: test)")
pytest.importorskip("pygame", reason="pygame-ce is missing (extra: test)")
pytest.importorskip("chess", reason="chess is missing (extra: test)")
spaces = importlib.import_module("gymnasium.spaces")
example = importlib.import_module("pettingzoo_game")

TICTACTOE, CONNECT_FOUR, CHESS = (
    f"classic/{name}" for name in ("tictactoe-v3", "connect_four-v3", "chess-v6")
)


class Toy(pettingzoo.AECEnv):
    """The agents choose 0 or 1 four times in turn; each choice of 1 is worth a quarter."""

    def __init__(self) -> None:
        self.metadata = {"name": "toy_v0"}
        self.possible_agents = ["first", "second"]

    def action_space(self, _agent: str) -> Any:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.seed, self.choices, self.agents = seed, [], list(self.possible_agents)
        self.rewards, self.infos = dict.fromkeys(self.agents, 0.0), {a: {} for a in self.agents}
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self.agents[0]

    def observe(self, _agent: str) -> Any:
        return np.array([*self.choices, *[-1] * 4][:4])

    def step(self, action: int) -> None:
        mover, other = self.agent_selection, self.agents[len(self.choices) % 2 - 1]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards |= {mover: action / 4, other: -action / 4}
        self.choices.append(action)
        self.agent_selection = other
        self.terminations = dict.fromkeys(self.agents, len(self.choices) == 4)


class MaskInInfo(Toy):
    """The first choice must be 1."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed)
        self.infos["first"] = {"action_mask": np.array([0, 1])}


class ThreeAgents(Toy):
    def __init__(self) -> None:
        super().__init__()
        self.possible_agents.append("third")


class RealActions(Toy):
    def action_space(self, _agent: str) -> Any:
        return spaces.Box(0.0, 1.0)


class Dice(Toy):
    def observe(self, agent: str) -> Any:
        return [self.seed, *super().observe(agent)]


class HiddenChoices(Toy):
    def observe(self, agent: str) -> Any:
        return np.where(np.arange(4) % 2 == self.agents.index(agent), super().observe(agent), 0)


class NotZeroSum(Toy):
    def step(self, action: int) -> None:
        super().step(action)
        self.rewards = dict.fromkeys(self.agents, 0.25)


class Parallel(pettingzoo.ParallelEnv):
    def __init__(self) -> None:
        self.metadata = {"name": "parallel_v0"}


@pytest.mark.parametrize("name", [TICTACTOE, CONNECT_FOUR, CHESS])
def test_an_environment_keeps_the_promises_of_a_game(name: str) -> None:
    report = pyengine.check_game(example.load(name), games=1)
    assert report.ok, report


@pytest.mark.parametrize(("name", "simulations"), [(TICTACTOE, 20), (CONNECT_FOUR, 20), (CHESS, 2)])
@pytest.mark.parametrize("side", [0, 1])
def test_a_game_against_a_random_player_is_the_same_in_the_environment(
    name: str, simulations: int, side: int, rng: random.Random
) -> None:
    env, game = pettingzoo.make("aec", name), example.load(name)
    state = game.new_initial_state()
    env.reset()
    with pyengine.Engine(game, "uniform", simulations=simulations) as engine:
        while not state.is_terminal():
            seen, _, terminated, truncated, _ = env.last()
            assert not terminated
            assert not truncated
            assert env.agent_selection == env.possible_agents[state.current_player()]
            assert np.array_equal(
                np.moveaxis(seen["observation"], 2, 0), state.observation_tensor()
            )
            legal = state.legal_actions()
            assert legal == np.flatnonzero(seen["action_mask"]).tolist()
            mine = state.current_player() == side
            action = engine.search(state).action if mine else rng.choice(legal)
            assert action in legal
            state.apply_action(action)
            env.step(action)
    assert all(env.terminations.values())
    assert state.returns() == [env.rewards[agent] for agent in env.possible_agents]


def test_connect_four_is_the_built_in_one(rng: random.Random) -> None:
    theirs = example.load(CONNECT_FOUR).new_initial_state()
    ours = pyengine.load_game("connect_four").new_initial_state()
    while not ours.is_terminal():
        assert theirs.current_player() == ours.current_player()
        assert theirs.legal_actions() == ours.legal_actions()
        assert np.array_equal(theirs.observation_tensor(), ours.observation_tensor()[:2])
        action = rng.choice(ours.legal_actions())
        ours.apply_action(action)
        theirs.apply_action(action)
    assert theirs.is_terminal()
    assert theirs.returns() == ours.returns()


@pytest.mark.parametrize(("moves", "wins"), [([0, 3, 1, 4], 2), ([0, 3, 1, 4, 8], 5)])
def test_the_player_to_move_wins_in_one(moves: list[int], wins: int) -> None:
    game = pyengine.load_game(f"{ROOT}/examples/pettingzoo_game.py:load(name={TICTACTOE})")
    with pyengine.Engine(game, "rollout", simulations=100) as engine:
        result = engine.search(game.new_initial_state(moves))
    assert (result.action, result.proven) == (wins, 1)


def test_returns_are_the_sum_of_all_rewards() -> None:
    state = example.AecGame(Toy(), 4).new_initial_state()
    for action in (1, 0, 1, 1):
        state.apply_action(action)
    assert state.is_terminal()
    assert state.returns() == [0.25, -0.25]


def test_a_game_does_not_change_with_its_environment() -> None:
    env = Toy()
    game = example.AecGame(env, 4)
    env.step(1)
    assert game.new_initial_state().current_player() == 0


def test_actions_are_legal_by_the_mask_in_the_info_or_without_any() -> None:
    assert example.AecGame(Toy(), 4).new_initial_state().legal_actions() == [0, 1]
    assert example.AecGame(MaskInInfo(), 4).new_initial_state().legal_actions() == [1]


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        (Parallel, '"parallel_v0": expected an AEC environment, got Parallel'),
        (ThreeAgents, '"toy_v0": expected two agents, got 3'),
        (RealActions, '"toy_v0": expected Discrete actions'),
        (Dice, '"toy_v0": games with chance'),
        (HiddenChoices, '"toy_v0": games with hidden information or simultaneous moves'),
        (
            lambda: pettingzoo.make("aec", "classic/rps-v2"),
            '"rps_v2": games with hidden information or simultaneous moves',
        ),
    ],
)
def test_other_environments_are_refused_by_name(environment: Any, reason: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=reason):
        example.AecGame(environment(), 4)


def test_rewards_that_do_not_sum_to_zero_are_refused() -> None:
    game = example.AecGame(NotZeroSum(), 4)
    with (
        pyengine.Engine(game, "rollout") as engine,
        pytest.raises(pyengine.ConfigError, match="zero"),
    ):
        engine.search(game.new_initial_state(), simulations=10)
