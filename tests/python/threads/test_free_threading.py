"""Concurrent use from many Python threads.

On a Python without the GIL these tests find races; with the GIL they pass more easily.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import pyengine
from pyengine.games import as_game
from toy_games import Matches, ToyGame

THREADS = 6
ROUNDS = 20

Job = Callable[[], object]


def together(jobs: Sequence[Job]) -> None:
    """Run jobs on threads that start at the same moment; raise the first exception."""
    errors: list[BaseException] = []
    begin = threading.Barrier(len(jobs))

    def run(job: Job) -> None:
        begin.wait()
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def play_and_take_back(state: pyengine.State) -> None:
    for _ in range(ROUNDS):
        for action in (0, 1, 8, 7, 3):
            try:
                state.apply_action(action)
            except pyengine.IllegalActionError:  # another thread was faster
                break
        for _ in range(5):
            try:
                state.undo_action()
            except pyengine.ConfigError:  # at the start
                break


def read_everything(state: pyengine.State) -> None:
    for _ in range(ROUNDS):
        copy = state.clone()
        assert len(copy.history()) <= 42
        assert state.game.deserialize_state(copy.serialize()) == copy
        state.legal_actions()
        state.board_rows()
        state.observation_tensor()
        str(state), repr(state), hash(state), state == copy


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_import_leaves_the_gil_off() -> None:
    program = "import sys, pyengine; sys.exit(sys._is_gil_enabled())"
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=inherited, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_threads_play_and_read_one_state() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    together(
        [lambda: play_and_take_back(state)] * 2 + [lambda: read_everything(state)] * (THREADS - 2)
    )


def test_moves_are_played_on_a_state_while_engines_search_it() -> None:
    game = pyengine.load_game("connect_four")
    state = game.new_initial_state()

    def search() -> None:
        with pyengine.Engine(game, "rollout", threads=2) as engine:
            for _ in range(ROUNDS // 3):
                assert engine.search(state, simulations=20).simulations == 20
                engine.search_many([state, state], simulations=5)

    together([lambda: play_and_take_back(state), search, search, search])


def test_threads_create_evaluators_of_one_function() -> None:
    inside = 0

    def evaluate(states: list[pyengine.State]) -> tuple[np.ndarray, np.ndarray]:
        nonlocal inside
        inside += 1
        assert inside == 1, "the function was called concurrently"
        answer = np.ones((len(states), 7), np.float32), np.zeros(len(states), np.float32)
        inside -= 1
        return answer

    game = pyengine.load_game("connect_four")

    def search() -> None:
        for _ in range(ROUNDS // 6):
            evaluator = pyengine.StateEvaluator(evaluate)
            with pyengine.Engine(game, evaluator, threads=2) as engine:
                engine.search(game.new_initial_state(), simulations=20)

    def make_others() -> None:
        for _ in range(ROUNDS):
            pyengine.StateEvaluator(lambda states: None)

    together([search, search, search, make_others, make_others, make_others])


def test_threads_search_one_python_game() -> None:
    game = as_game(ToyGame(Matches))

    def search() -> None:
        with pyengine.Engine(game, "rollout", threads=2) as engine:
            for _ in range(ROUNDS // 6):
                state = game.new_initial_state()
                action = engine.search(state, simulations=20).action
                state.apply_action(action)
                engine.advance(action)

    together([search] * THREADS)


def test_threads_may_close_an_engine_that_others_use() -> None:
    """A late caller gets an EngineError, never a Python error."""
    game = pyengine.load_game("tic_tac_toe")
    state = game.new_initial_state()

    def use(verb: Job) -> Job:
        def job() -> None:
            try:
                for _ in range(ROUNDS):
                    verb()
            except pyengine.EngineError:
                pass

        return job

    for _ in range(ROUNDS // 3):
        engine = pyengine.Engine(game, "uniform", threads=1)
        together(
            [
                use(lambda engine=engine: engine.search(state, simulations=5)),
                use(lambda engine=engine: engine.stats()),
                use(engine.clear),
                use(engine.stop),
                engine.close,
            ]
        )


def test_threads_evaluate_states_of_a_list_that_changes() -> None:
    game = pyengine.load_game("connect_four")
    states = [game.new_initial_state([i % 7]) for i in range(8)]
    evaluator = pyengine.RolloutEvaluator()

    def evaluate() -> None:
        for _ in range(ROUNDS // 6):
            policy, value = evaluator.evaluate(states, game=game)
            assert len(policy) == len(value) == len(states)

    def replace() -> None:
        for i in range(ROUNDS * 5):
            states[i % len(states)] = game.new_initial_state([i % 7])

    together([evaluate, evaluate, replace, replace])
