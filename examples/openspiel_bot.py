"""Let OpenSpiel evaluate the engine. Run: python openspiel_bot.py [GAMES] [SIMULATIONS]"""

import argparse

import numpy as np
import pyspiel
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

import pyengine


class EngineBot(pyspiel.Bot):
    """A bot that plays the moves of an engine and keeps its tree during a game.

    `to_state` converts OpenSpiel's states to the engine's, if its game is not OpenSpiel's. Actions
    must have the same numbers. The policy is the share of visits.
    """

    def __init__(self, engine, to_state=lambda state: state):
        super().__init__()
        self.engine, self.to_state = engine, to_state
        self.root = None  # the actions that led to the root of the tree

    def restart(self):
        self.root = None

    def restart_at(self, state):
        self.root = None

    def inform_action(self, state, player_id, action):
        if self.root == state.history():
            self.engine.advance(action)
            self.root.append(action)

    def provides_policy(self):
        return True

    def get_policy(self, state):
        return self._policy(self._search(state))

    def step_with_policy(self, state):
        result = self._search(state)
        self.inform_action(state, state.current_player(), result.action)
        return self._policy(result), result.action

    def step(self, state):
        return self.step_with_policy(state)[1]

    def _search(self, state):
        result = self.engine.search(self.to_state(state))
        self.root = state.history()
        return result

    def _policy(self, result):
        return [(int(action), float(result.policy[action])) for action in result.actions]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", type=int, nargs="?", default=10)
    parser.add_argument("simulations", type=int, nargs="?", default=200)
    options = parser.parse_args()
    game, total, rng = pyspiel.load_game("connect_four"), 0.0, np.random.RandomState(0)
    with pyengine.Engine("connect4", simulations=options.simulations) as engine:
        bot = EngineBot(engine, lambda state: engine.game.new_initial_state(state.history()))
        rollouts = pyspiel.RandomRolloutEvaluator(1, 0)
        opponent = pyspiel.MCTSBot(game, rollouts, 2.0, 1000, 100, False, 0, False)
        for number in range(options.games):
            bots = [bot, opponent] if number % 2 == 0 else [opponent, bot]
            total += evaluate_bots(game.new_initial_state(), bots, rng)[number % 2]
    print(f"{options.games} games, mean return {total / options.games:+.2f}")
