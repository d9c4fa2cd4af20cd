"""Calls from other threads while a search runs, and forked children."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pyengine

WATCHED = """
import threading, pyengine
from toy_games import Matches, ToyGame

game = ToyGame(Matches)
engine = pyengine.Engine(game, "rollout")
done = threading.Event()

def ask():
    while not done.is_set():
        engine.stats()
        engine.stop()

asking = threading.Thread(target=ask, daemon=True)
asking.start()
for _ in range(10):
    state = game.new_initial_state()
    while not state.is_terminal():
        action = engine.search(state, simulations=20).action
        state.apply_action(action)
        if not state.is_terminal():
            engine.advance(action)
done.set()
asking.join()
print("ended")
"""


#: Forks while other threads start and end searches, which borrow and return worker threads.
FORKED_IN_SEARCHES = """
import os, threading, time, warnings, pyengine
warnings.simplefilter("ignore")

game = pyengine.load_game("connect_four")
states = [game.new_initial_state()] * 4
done = threading.Event()

def search(evaluator):
    engine = pyengine.Engine(game, evaluator, threads=3)
    assert len(engine.search_many(states, simulations=30)) == 4

def search_on():
    while not done.is_set():
        search("rollout")

busy = [threading.Thread(target=search_on) for _ in range(3)]
for thread in busy:
    thread.start()
for _ in range(3):
    child = os.fork()
    if child == 0:
        search("rollout")
        search("connect4")
        os._exit(7)
    until = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, 9)
        time.sleep(0.001)
    assert os.waitstatus_to_exitcode(ended[1]) == 7, ended
done.set()
for thread in busy:
    thread.join()
print("ended")
"""

MANY_ENGINES = """
import re, pyengine

def count(what):
    with open("/proc/self/status") as status:
        return int(re.search(what + r":\\s+(\\d+)", status.read())[1])

game = pyengine.load_game("connect_four")
states = [game.new_initial_state()] * 8
engines = []

def add_engine():
    engines.append(pyengine.Engine(game, "rollout", threads=8))
    engines[-1].search_many(states, simulations=5)

add_engine()
threads, kilobytes = count("Threads"), count("VmRSS")
assert threads >= 8
for _ in range(20):
    add_engine()
print(count("Threads") - threads, (count("VmRSS") - kilobytes) // 20)
"""


def run(program: str) -> str:
    """Run a program in a separate process, which may hang without blocking this one."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_stats_and_stop_do_not_block_a_search_of_a_python_game() -> None:
    assert "ended" in run(WATCHED)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_child_forked_during_searches_has_its_own_threads() -> None:
    assert "ended" in run(FORKED_IN_SEARCHES)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="counts threads as Linux does")
def test_idle_engines_have_no_threads_and_little_memory() -> None:
    threads, kilobytes = map(int, run(MANY_ENGINES).split())
    assert threads == 0
    assert kilobytes < 500  # an engine


def test_an_evaluator_may_search_with_threads() -> None:
    game = pyengine.load_game("connect_four")
    states = [game.new_initial_state()] * 8
    inner = pyengine.Engine(game, "rollout", threads=8)

    def evaluate(batch: list[pyengine.State]) -> tuple[np.ndarray, np.ndarray]:
        results = inner.search_many(states, simulations=20)
        assert [result.simulations for result in results] == [20] * 8
        return np.ones((len(batch), 7), np.float32), np.zeros(len(batch), np.float32)

    with pyengine.Engine(game, pyengine.StateEvaluator(evaluate), threads=8) as engine:
        for result in engine.search_many(states, simulations=10):
            assert result.simulations == 10


def test_a_refused_analysis_does_not_stop_the_running_search() -> None:
    game = pyengine.load_game("connect_four")
    engine = pyengine.Engine(game, "rollout", threads=1)
    results: list[pyengine.SearchResult] = []
    search = threading.Thread(
        target=lambda: results.append(engine.search(game.new_initial_state(), seconds=0.3))
    )
    search.start()
    while engine.stats()["simulations"] == 0:
        time.sleep(0.001)
    with pytest.raises(pyengine.EngineError, match="is searching"):
        next(engine.analyze(game.new_initial_state()))
    search.join()
    assert results[0].stop_reason == "seconds"


def test_an_engine_may_be_closed_during_an_analysis() -> None:
    game = pyengine.load_game("connect_four")
    with pyengine.Engine(game, "rollout") as engine:
        for _ in engine.analyze(game.new_initial_state(), every=0.01):
            break
        running = engine.analyze(game.new_initial_state(), every=0.01)
        next(running)
    with pytest.raises(pyengine.EngineError, match="closed"):
        engine.stats()


def test_stats_count_while_a_search_runs() -> None:
    game = pyengine.load_game("connect_four")
    engine = pyengine.Engine(game, "rollout", threads=1)
    seen: list[int] = []
    engine.search(
        game.new_initial_state(),
        seconds=0.3,
        on_progress=lambda result: seen.append(engine.stats()["simulations"]),
    )
    assert seen
    assert 0 < seen[0] <= engine.stats()["simulations"]
