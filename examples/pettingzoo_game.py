"""Search a game of PettingZoo. Run: python pettingzoo_game.py [NAME] [SIMULATIONS]"""

import argparse
import copy
import pickle
import random

import numpy as np
import pettingzoo
from gymnasium.spaces import Discrete

import pyengine


def copied(env, memo):
    """Copy an environment as it is; `copy.deepcopy` restarts those derived from EzPickle."""
    new = memo[id(env)] = object.__new__(type(env))
    for name, value in vars(env).items():
        if name in ("action_spaces", "observation_spaces"):  # constant
            vars(new)[name] = value
        else:
            copy_of = copied if isinstance(value, pettingzoo.AECEnv) else copy.deepcopy
            vars(new)[name] = copy_of(value, memo)
    return new


class State:
    def __init__(self, env, moves=(), totals=(0.0, 0.0)):
        self.env, self.moves, self.totals = env, moves, totals  # totals: of each agent's rewards
        self.is_shared, self.seen = True, None

    def clone(self):
        self.is_shared = True  # the environment: whoever plays first makes a copy
        return State(self.env, self.moves, self.totals)

    def apply_action(self, action):
        if self.is_shared:
            self.env, self.is_shared = copied(self.env, {}), False
        self.env.step(action)
        rewards = (self.env.rewards[agent] for agent in self.env.possible_agents)
        self.totals = tuple(map(sum, zip(self.totals, rewards, strict=True)))
        self.moves, self.seen = (*self.moves, action), None

    def is_terminal(self):
        env = self.env
        return all(env.terminations[agent] or env.truncations[agent] for agent in env.agents)

    def current_player(self):
        mover = self.env.possible_agents.index(self.env.agent_selection)
        return -4 if self.is_terminal() else mover

    def returns(self):
        return list(self.totals)

    def history(self):
        return list(self.moves)

    def observed(self):
        """Return `observation` and `action_mask`, which may also be in the info or absent."""
        if self.seen is None:
            agent = self.env.agent_selection
            seen, every = self.env.observe(agent), np.ones(self.env.action_space(agent).n)
            seen = seen if isinstance(seen, dict) else {"observation": seen}
            self.seen = {"action_mask": every, **self.env.infos[agent], **seen}
        return self.seen

    def legal_actions(self):
        return np.flatnonzero(self.observed()["action_mask"]).tolist()

    def observation_tensor(self):
        planes = np.asarray(self.observed()["observation"], np.float32)
        return np.moveaxis(planes, -1, 0) if planes.ndim == 3 else planes  # from (H, W, C)

    def __str__(self):
        if getattr(self.env, "render_mode", None) == "ansi":
            return str(self.env.render())
        planes = self.observation_tensor()
        return str(planes.argmax(0) + planes.any(0))  # 1: stones of the player to move, 2: others


def observations(env, seed):
    """Return what both agents observe in 30 plies of fixed choices, and their rewards."""
    env.reset(seed=seed)
    state, rng, seen = State(env), random.Random(0), []
    while not state.is_terminal() and len(seen) < 30:
        seen.append([pickle.dumps(state.env.observe(agent)) for agent in env.possible_agents])
        state.apply_action(rng.choice(state.legal_actions()))
    return seen, state.totals


def hides_moves(env):
    """Return whether the second agent observes the same after each of the first moves."""
    env.reset(seed=0)
    second, seen = env.possible_agents[1 - State(env).current_player()], set()
    actions = State(env).legal_actions()[:8]
    for action in actions:
        state = State(env)
        state.apply_action(action)
        seen.add(pickle.dumps(state.env.observe(second)))
    return len(seen) == 1 < len(actions)


def refusal(env):
    """Return why the engine cannot play a game, as far as some moves show, or None."""
    if not isinstance(env, pettingzoo.AECEnv):
        return f"expected an AEC environment, got {type(env).__name__}"
    if len(env.possible_agents) != 2:
        return f"expected two agents, got {len(env.possible_agents)}"
    spaces = [env.action_space(agent) for agent in env.possible_agents]
    if not all(isinstance(space, Discrete) and space.start == 0 for space in spaces):
        return f"expected Discrete actions from 0, got {spaces[0]}"
    if observations(env, seed=0) != observations(env, seed=1):
        return "games with chance are not supported, but the seed decides what happens"
    if hides_moves(env):
        return "games with hidden information or simultaneous moves are not supported"
    return None


class AecGame:
    """An AEC environment of two agents, without chance and hidden information, as a game.

    A game ends when both agents are done, within `max_game_length` plies, and its rewards must sum
    to zero. Raises ConfigError with the name of an environment that is no such game.
    """

    def __init__(self, env, max_game_length):
        self.name = getattr(env, "metadata", {}).get("name", type(env).__name__)
        if reason := refusal(env):
            raise pyengine.ConfigError(f'environment "{self.name}": {reason}')
        env.reset(seed=0)
        self.env, self.max_game_length = copied(env, {}), max_game_length

    def num_distinct_actions(self):
        return max(int(self.env.action_space(agent).n) for agent in self.env.possible_agents)

    def new_initial_state(self):
        return State(self.env)


def load(name, max_game_length=12_000, **options):  # chess: a draw is claimed within 11,797 plies
    return AecGame(pettingzoo.make("aec", name, **options), max_game_length)


if __name__ == "__main__":  # to play: `pyengine play "pettingzoo_game.py:load(name=classic/go-v5)"`
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="classic/connect_four-v3")
    parser.add_argument("simulations", type=int, nargs="?", default=400)
    options = parser.parse_args()
    game = load(options.name)
    with pyengine.Engine(game, "rollout", simulations=options.simulations) as engine:
        print(engine.search(game.new_initial_state()))
