"""Play the engine in a Gymnasium environment. Run: python gymnasium_env.py [GAMES] [SIMULATIONS]"""

import argparse
import math

import gymnasium
import numpy as np

import pyengine


class EngineEnv(gymnasium.Env):
    """A game against an engine; `settings` are its fields of SearchConfig.

    The agent plays `side`, 0 or 1, or a random side each game if it is None. It observes the planes
    of the position, `info["action_mask"]` marks the legal actions, and the reward is the result at
    the end. An illegal action loses. A finished game has no player to move: its planes are zeros.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(self, game, evaluator=None, side=0, render_mode=None, **settings):
        self.settings = {"simulations": 100, "deterministic": True, **settings}
        self.engine = pyengine.Engine(game, evaluator, **self.settings)
        self.game, self.evaluator = self.engine.game, self.engine.evaluator
        self.fixed_side, self.render_mode = side, render_mode
        self.state, self.side = self.game.new_initial_state(), side
        shape = self.state.observation_tensor().shape
        low, high = (-np.inf, np.inf) if math.prod(self.game.observation_shape) else (0.0, 1.0)
        self.observation_space = gymnasium.spaces.Box(low, high, shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(self.game.num_distinct_actions())

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:  # an engine repeats its searches only from the first one on
            self.settings["seed"] = int(self.np_random.integers(2**31))
            self.engine.close()
            self.engine = pyengine.Engine(self.game, self.evaluator, **self.settings)
        draws = self.fixed_side is None
        self.side = int(self.np_random.integers(2)) if draws else self.fixed_side
        self.state = self.game.new_initial_state()
        self._reply()
        return self._observed()

    def step(self, action):
        if action not in self.state.legal_actions():
            observation, info = self._observed()
            return observation, -1.0, True, False, info
        self.state.apply_action(action)
        self._reply()
        observation, info = self._observed()
        reward, is_over = self.state.returns()[self.side], self.state.is_terminal()
        return observation, reward, is_over, False, info

    def render(self):
        return str(self.state) if self.render_mode == "ansi" else None

    def close(self):
        self.engine.close()

    def _reply(self):
        while self.state.current_player() == 1 - self.side:
            self.state.apply_action(self.engine.search(self.state).action)

    def _observed(self):
        mask = np.zeros(self.action_space.n, np.int8)
        mask[self.state.legal_actions()] = 1
        if self.state.is_terminal():
            return np.zeros(self.observation_space.shape, np.float32), {"action_mask": mask}
        return self.state.observation_tensor(), {"action_mask": mask}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", type=int, nargs="?", default=5)
    parser.add_argument("simulations", type=int, nargs="?", default=100)
    options = parser.parse_args()
    env = EngineEnv("connect4", side=None, render_mode="ansi", simulations=options.simulations)
    total = 0.0
    for number in range(options.games):
        _, info = env.reset(seed=number)
        is_over = False
        while not is_over:  # the agent plays at random
            action = env.action_space.sample(info["action_mask"])
            _, reward, is_over, _, info = env.step(action)
        total += reward
    print(f"{env.render()}\n{options.games} games, mean reward {total / options.games:+.2f}")
    env.close()
