"""The engine as a bot of OpenSpiel: examples/openspiel_bot.py."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import pyengine

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
example = importlib.import_module("openspiel_bot")
bots_of = importlib.import_module("open_spiel.python.algorithms.evaluate_bots")


class Recorder:
    """An engine that records how many visits each search reuses."""

    def __init__(self, game: Any, evaluator: Any = None, simulations: int = 200) -> None:
        self.engine = pyengine.Engine(game, evaluator, simulations=simulations, threads=1)
        self.reused: list[int] = []

    def search(self, state: Any) -> pyengine.SearchResult:
        result = self.engine.search(state)
        self.reused.append(result.reused)
        return result

    def advance(self, action: int) -> None:
        self.engine.advance(action)


def python_script(state: Any, bots: list[Any]) -> list[float]:
    """Play a game by OpenSpiel's script in Python."""
    return list(bots_of.evaluate_bots(state, bots, np.random.RandomState(0)))


def cpp_script(state: Any, bots: list[Any]) -> list[float]:
    """Play a game by OpenSpiel's script in C++."""
    return list(pyspiel.evaluate_bots(state, bots, 0))


@pytest.mark.parametrize("script", [python_script, cpp_script])
@pytest.mark.parametrize("side", [0, 1])
def test_the_bot_beats_a_random_bot_and_keeps_its_tree(script: Any, side: int) -> None:
    game = pyspiel.load_game("breakthrough(rows=5,columns=5)")
    engine = Recorder(game, "rollout")
    bots = [example.EngineBot(engine), pyspiel.make_uniform_random_bot(1 - side, 3)]
    for _ in range(2):
        engine.reused = []
        returns = script(game.new_initial_state(), bots if side == 0 else bots[::-1])
        assert returns[side] == 1.0
        assert engine.reused[0] == 0
        assert sum(engine.reused) > 0


def test_two_bots_play_each_other() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    bots = [example.EngineBot(Recorder(game, "rollout", 1000)) for _ in range(2)]
    assert python_script(game.new_initial_state(), bots) == [0.0, 0.0]


def test_a_bundled_network_plays_the_same_game_of_openspiel() -> None:
    theirs, ours = pyspiel.load_game("connect_four"), pyengine.load_game("connect_four")
    engine = Recorder(ours, "connect4", 50)
    bot = example.EngineBot(engine, lambda state: ours.new_initial_state(state.history()))
    bots = [bot, pyspiel.make_uniform_random_bot(1, 3)]
    assert cpp_script(theirs.new_initial_state(), bots) == [1.0, -1.0]
    assert sum(engine.reused) > 0


def test_the_policy_is_the_share_of_visits() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    bot, state = example.EngineBot(Recorder(game, "rollout")), game.new_initial_state()
    state.apply_action(4)
    assert bot.provides_policy()
    for policy in (bot.get_policy(state), bot.step_with_policy(state)[0]):
        assert [action for action, _ in policy] == state.legal_actions()
        assert sum(share for _, share in policy) == pytest.approx(1.0)
    policy, action = bot.step_with_policy(state)
    assert action == max(policy, key=lambda pair: pair[1])[0]


def test_an_action_that_the_bot_did_not_choose_is_searched_afresh() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    engine = Recorder(game, "rollout")
    bot, state = example.EngineBot(engine), game.new_initial_state()
    chosen = bot.step(state)
    other = next(action for action in state.legal_actions() if action != chosen)
    state.apply_action(other)
    bot.inform_action(state, 1, chosen)  # illegal at the root of the bot's tree
    state.apply_action(chosen)
    assert bot.step(state) in state.legal_actions()
    assert engine.reused == [0, 0]


def test_a_restarted_bot_plays_from_another_position() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    engine = Recorder(game, "rollout")
    bot, state = example.EngineBot(engine), game.new_initial_state()
    bot.step(state)
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    bot.restart_at(state)
    assert bot.step(state) == 2  # wins
