"""Engines that are interrupted, stopped from elsewhere, closed, forked and dropped."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyengine
from pyengine import Engine, EngineError

Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]

CHILD = """
import sys, time
import numpy as np
import pyengine

class Slow:
    def num_distinct_actions(self): return 9
    def new_initial_state(self): return SlowState(())

class SlowState:
    def __init__(self, moves): self.moves = moves
    def clone(self): return SlowState(self.moves)
    def current_player(self): return len(self.moves) % 2
    def legal_actions(self): return [a for a in range(9) if a not in self.moves]
    def apply_action(self, action):
        time.sleep(0.002)
        self.moves = (*self.moves, action)
    def is_terminal(self): return len(self.moves) == 9
    def returns(self): return [0.0, 0.0]

def for_ever(planes):
    if len(planes) and planes.shape[0] >= 1:
        time.sleep(1000)

def answer(states):
    return np.ones((len(states), 7)), np.zeros(len(states))

{make}
state = engine.game.new_initial_state() if game is None else game.new_initial_state()
print("searching", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", flush=True)
# The engine is usable afterwards.
if {again}:
    print("again", engine.search(state, simulations=5, seconds=None).simulations, flush=True)
"""

SEARCHES = {
    "uniform": ("engine = pyengine.Engine('go', 'uniform')", "", True),
    "one_thread": ("engine = pyengine.Engine('othello', 'uniform', threads=1)", "", True),
    "rollout": ("engine = pyengine.Engine('connect_four', 'rollout', solver=False)", "", True),
    "states": (
        "engine = pyengine.Engine('connect_four', pyengine.StateEvaluator(answer))",
        "",
        True,
    ),
    "for_ever": ("engine = pyengine.Engine('connect_four', for_ever)", "", False),
    "python_game": ("game = Slow(); engine = pyengine.Engine(game, 'uniform')", "", True),
    "python_rollouts": ("game = Slow(); engine = pyengine.Engine(game, 'rollout')", "", True),
    "many": (
        "engine = pyengine.Engine('go(board_size=9)', 'rollout')",
        "engine.search_many([state] * 16, seconds=1000)",
        True,
    ),
    "analyze": (
        "engine = pyengine.Engine('connect_four', 'rollout', solver=False)",
        "list(engine.analyze(state))",
        True,
    ),
    "onnx": ("engine = pyengine.Engine('connect_four', 'connect4', solver=False)", "", True),
    # Of the endings below none is solved in time, nor in the search that would follow.
    "ending": (
        "engine = pyengine.Engine('othello', 'uniform', endgame_solver_empties=64)",
        "",
        False,
    ),
    "ending_of_one_thread": (
        "engine = pyengine.Engine('othello', 'rollout', endgame_solver_empties=64, threads=1)",
        "",
        False,
    ),
    "endings_of_many": (
        "engine = pyengine.Engine('othello', 'rollout', endgame_solver_empties=64)",
        "engine.search_many([state] * 4, seconds=1000)",
        False,
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on Unix")
@pytest.mark.parametrize("kind", SEARCHES)
def test_ctrl_c_ends_a_search_at_once(kind: str) -> None:
    make, call, again = SEARCHES[kind]
    if "'connect4'" in make and "connect4" not in pyengine.bundled_models():
        pytest.skip("the bundled network is not there yet")
    code = CHILD.replace("{make}", "game = None; " + make)
    code = code.replace("{call}", call or "engine.search(state, seconds=1000)")
    code = code.replace("{again}", str(again))
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "searching", child.communicate()[1]
        time.sleep(0.4)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    finally:
        child.kill()
    lines = out.split("\n")
    assert lines[0].startswith("interrupted"), err
    # 0.1 s plus a batch; the rest is for a busy machine.
    assert float(lines[0].split()[1]) - sent < 1.0
    if again:
        assert lines[1].startswith("again"), err
    assert child.returncode == 0, err


def endless(engine: Engine) -> tuple[threading.Thread, list[Any]]:
    """Start a search without end on a thread; return once it is under way."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(engine.search(engine.game.new_initial_state(), seconds=1000))
        except BaseException as error:
            found.append(error)

    before = engine.stats()["nodes"]
    thread = threading.Thread(target=run)
    thread.start()
    while engine.stats()["nodes"] <= before:
        time.sleep(0.001)
    return thread, found


def slow(planes: npt.NDArray[Any]) -> Arrays:
    time.sleep(0.001)
    return np.zeros((len(planes), 7)), np.zeros(len(planes))


@pytest.mark.parametrize("evaluator", ["uniform", "rollout", slow])
def test_stop_from_another_thread_ends_the_search_with_what_it_has(evaluator: Any) -> None:
    engine = Engine("connect_four", evaluator, solver=False)
    thread, found = endless(engine)
    begun = time.perf_counter()
    engine.stop()
    thread.join(timeout=10)
    assert time.perf_counter() - begun < 1
    assert found[0].stop_reason == "stopped"
    assert found[0].visits.sum() == found[0].simulations
    engine.stop()  # without a search: nothing
    assert engine.search(engine.game.new_initial_state(), simulations=10).simulations == 10


def test_a_second_search_is_refused_while_statistics_are_served() -> None:
    engine = Engine("connect_four", slow, solver=False)
    thread, found = endless(engine)
    with pytest.raises(EngineError, match="searching"):
        engine.search(engine.game.new_initial_state())
    stats = [engine.stats()["nodes"] for _ in range(50) if not time.sleep(0.002)]
    assert stats == sorted(stats)
    engine.stop()
    thread.join(timeout=10)
    assert found[0].stop_reason == "stopped"


def test_closing_an_engine_ends_its_search() -> None:
    engine = Engine("connect_four", slow, solver=False)
    thread, found = endless(engine)
    engine.close()
    thread.join(timeout=10)
    assert found[0].stop_reason == "stopped"


def test_a_stop_that_comes_before_the_first_simulation_counts() -> None:
    for _ in range(20):
        engine = Engine("go(board_size=9)", "uniform", threads=2)
        thread, found = endless(engine)  # the tree is there, and hardly more
        engine.stop()
        thread.join(timeout=10)
        assert found[0].stop_reason == "stopped"


def test_statistics_name_everything_of_the_api() -> None:
    engine = Engine("connect_four", slow, simulations=100)
    engine.search(engine.game.new_initial_state())
    stats = engine.stats()
    assert stats.keys() >= {
        "evaluations",
        "batches",
        "mean_batch_fill",
        "padding",
        "cache_hits",
        "collisions",
        "waiting_seconds",
        "scheduler_passes",
        "wake_ups",
        "queue_operations",
        "nodes",
        "bytes",
        "provider",
    }
    assert stats["bytes"] > 0
    assert 0 < stats["mean_batch_fill"] <= 8


def test_a_closed_engine_says_so() -> None:
    with Engine("connect_four", "uniform", simulations=10) as engine:
        result = engine.search(engine.game.new_initial_state())
    engine.close()
    engine.stop()
    for call in (
        lambda: engine.search(engine.game.new_initial_state()),
        lambda: engine.advance(0),
        engine.clear,
        engine.stats,
    ):
        with pytest.raises(EngineError, match="closed"):
            call()
    assert result.visits.sum() == 10


def test_an_engine_that_is_dropped_lets_go_of_its_game_and_evaluator() -> None:
    class Evaluate:
        def __call__(self, planes: npt.NDArray[Any]) -> Arrays:
            return np.zeros((len(planes), 7)), np.zeros(len(planes))

    evaluate = Evaluate()
    gone = weakref.ref(evaluate)
    engine = Engine("connect_four", evaluate, simulations=20, threads=4)
    engine.search(engine.game.new_initial_state())
    del evaluate, engine
    gc.collect()
    assert gone() is None


def test_many_engines_one_after_the_other_use_no_more_threads_and_memory() -> None:
    def threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    if not Path("/proc/self/task").exists():
        pytest.skip("no /proc here")
    counts = []
    for _ in range(30):
        with Engine("connect_four", "rollout", threads=4, simulations=50) as engine:
            engine.search(engine.game.new_initial_state())
        del engine
        gc.collect()
        counts.append(threads())
    assert counts[-1] <= counts[2] + 1


def test_engines_in_several_threads_do_not_disturb_each_other() -> None:
    found: list[Any] = []

    def run(seed: int) -> None:
        engine = Engine("connect_four", "rollout", deterministic=True, threads=2, seed=seed % 2)
        result = engine.search(engine.game.new_initial_state(), simulations=300)
        found.append((seed % 2, result.visits.tolist()))

    workers = [threading.Thread(target=run, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert len(found) == 6
    assert len({str(one) for one in found}) == 2


def test_a_search_from_another_thread_calls_back_there() -> None:
    places: set[int] = set()

    def evaluate(planes: npt.NDArray[Any]) -> Arrays:
        places.add(threading.get_ident())
        return np.zeros((len(planes), 7)), np.zeros(len(planes))

    engine = Engine("connect_four", evaluate, threads=4, simulations=100)
    worker = threading.Thread(target=engine.search, args=(engine.game.new_initial_state(),))
    worker.start()
    worker.join(timeout=60)
    assert len(places) == 1
    assert threading.get_ident() not in places


FORKED = """
import os, sys
import pyengine
engine = pyengine.Engine("connect_four", "rollout", threads=3, simulations=100)
state = engine.game.new_initial_state()
engine.search(state)
engine.advance(3)
child = os.fork()
if child == 0:
    try:
        engine.search(state)
    except pyengine.EngineError as error:
        assert "fork" in str(error), error
    else:
        os._exit(3)
    fresh = pyengine.Engine("connect_four", "rollout", threads=3, simulations=100)
    for _ in range(3):
        result = fresh.search(state)
        fresh.advance(result.action)
        fresh.clear()
    del engine
    os._exit(0 if result.visits.sum() >= 100 else 4)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
state.apply_action(3)
assert engine.search(state).simulations == 100
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_after_fork_the_child_makes_engines_of_its_own() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.strip() == "fine", run.stderr


def test_a_process_ends_in_the_middle_of_background_work() -> None:
    code = """
import pyengine
engine = pyengine.Engine("othello", "uniform", threads=1)
state = engine.game.new_initial_state()
result = engine.search(state, simulations=200_000)
engine.advance(result.action)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


def test_dropping_and_re_rooting_a_large_tree_takes_no_time() -> None:
    engine = Engine("othello", "uniform", threads=1, solver=False)
    state = engine.game.new_initial_state()
    result = engine.search(state, simulations=1_000_000)
    assert result.nodes > 900_000

    def took(call: Callable[[], object]) -> float:
        begun = time.thread_time()
        call()
        return time.thread_time() - begun

    # A millisecond of this thread; a walk through the tree would take many times the limit.
    assert took(lambda: engine.advance(result.action)) < 0.02
    assert took(engine.clear) < 0.02
