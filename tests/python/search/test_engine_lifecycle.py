"""Engines that are interrupted, stopped from another thread, closed, forked and dropped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import pyengine
from pyengine import Engine, EngineError, SearchResult
from toy_games import Matches, ToyGame
from zero_network import zero_network


class Slow(Matches):
    def apply_action(self, action: int) -> None:
        time.sleep(0.002)
        super().apply_action(action)


def ending(evaluator: str, threads: int) -> Engine:
    """Return an engine that solves for hours."""
    return Engine("othello", evaluator, endgame_solver_empties=64, threads=threads)


#: An engine whose search does not end by itself, and whether a second search would.
ENDLESS: dict[str, tuple[Callable[[], Engine], bool]] = {
    "uniform": (lambda: Engine("go", "uniform"), True),
    "one thread": (lambda: Engine("othello", "uniform", threads=1), True),
    "rollout": (lambda: Engine("connect_four", "rollout", solver=False), True),
    "states": (lambda: Engine("connect_four", pyengine.StateEvaluator(zero_network())), True),
    "asleep": (lambda: Engine("connect_four", lambda planes: time.sleep(1000)), False),
    "Python's game": (lambda: Engine(ToyGame(Slow), "uniform", solver=False), True),
    "its rollouts": (lambda: Engine(ToyGame(Slow), "rollout", solver=False), True),
    "network": (lambda: Engine("connect_four", "connect4", solver=False), True),
    "ending": (lambda: ending("uniform", 0), False),
    "ending of one thread": (lambda: ending("rollout", 1), False),
}
CALLS: dict[str, Callable[[Engine, Any], object]] = {
    "search": lambda engine, state: engine.search(state, seconds=1000),
    "search_many": lambda engine, state: engine.search_many([state] * 4, seconds=1000),
    "analyze": lambda engine, state: list(engine.analyze(state)),
}


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on Unix")
@pytest.mark.parametrize(
    ("kind", "call"),
    [*((kind, "search") for kind in ENDLESS), ("rollout", "search_many"), ("rollout", "analyze"),
     ("ending", "search_many")],
)  # fmt: skip
def test_ctrl_c_ends_a_search_at_once(kind: str, call: str) -> None:
    make, again = ENDLESS[kind]
    engine = make()
    state = engine.game.new_initial_state()
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        CALLS[call](engine, state)
    assert time.monotonic() - begun < 1.2  # 0.1 s plus a batch, with slack for a busy machine
    if again:
        assert engine.search(state, simulations=5).simulations == 5


@contextmanager
def endless(engine: Engine) -> Iterator[list[SearchResult]]:
    """Run an endless search on a thread; the block must end it. Yield a list for its result."""
    results: list[SearchResult] = []
    before = engine.stats()["nodes"]
    state = engine.game.new_initial_state()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.search, state, seconds=1000)
        while engine.stats()["nodes"] <= before:
            time.sleep(0.001)
        try:
            yield results
            results.append(running.result(timeout=10))
        finally:
            engine.stop()


slow = zero_network(seconds=0.001)


@pytest.mark.parametrize("evaluator", ["uniform", "rollout", slow])
def test_a_stop_from_another_thread_ends_the_search_with_a_result(evaluator: Any) -> None:
    engine = Engine("connect_four", evaluator, solver=False)
    with endless(engine) as results:
        begun = time.perf_counter()
        engine.stop()
    assert time.perf_counter() - begun < 1
    assert results[0].stop_reason == "stopped"
    assert results[0].visits.sum() == results[0].simulations
    engine.stop()  # no effect without a search
    assert engine.search(engine.game.new_initial_state(), simulations=10).simulations == 10


def test_a_second_search_is_refused_while_statistics_are_served() -> None:
    engine = Engine("connect_four", slow, solver=False)
    with endless(engine) as results:
        with pytest.raises(EngineError, match="searching"):
            engine.search(engine.game.new_initial_state())
        nodes = [engine.stats()["nodes"] for _ in range(20) if not time.sleep(0.002)]
        assert nodes == sorted(nodes)
        engine.stop()
    assert results[0].stop_reason == "stopped"


def test_closing_an_engine_ends_its_search() -> None:
    engine = Engine("connect_four", slow, solver=False)
    with endless(engine) as results:
        engine.close()
    assert results[0].stop_reason == "stopped"


def test_statistics_have_the_documented_keys() -> None:
    engine = Engine("connect_four", slow, simulations=100)
    engine.search(engine.game.new_initial_state())
    stats = engine.stats()
    documented = {"evaluations", "batches", "mean_batch_fill", "padding", "cache_hits"}
    documented |= {"collisions", "waiting_seconds", "nodes", "bytes", "provider"}
    assert stats.keys() >= documented
    assert stats["bytes"] > 0
    assert 0 < stats["mean_batch_fill"] <= 8


def test_a_closed_engine_refuses_every_call() -> None:
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


def test_engines_in_several_threads_are_independent() -> None:
    def visits(seed: int) -> list[int]:
        engine = Engine("connect_four", "rollout", deterministic=True, threads=2, seed=seed)
        result = engine.search(engine.game.new_initial_state(), simulations=200)
        return [int(count) for count in result.visits]

    with ThreadPoolExecutor(4) as pool:
        first, second, *again = pool.map(visits, [0, 1] * 3)
    assert first != second
    assert again == [first, second] * 2


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
large = pyengine.Engine("othello", "uniform", threads=1)
state = large.game.new_initial_state()
large.advance(large.search(state, simulations=100_000).action)  # freed while the process ends
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
    assert run.returncode == 0, run.stderr


def test_dropping_and_re_rooting_a_large_tree_takes_no_time() -> None:
    engine = Engine("othello", "uniform", threads=1, solver=False)
    state = engine.game.new_initial_state()
    result = engine.search(state, simulations=200_000)
    assert result.nodes > 150_000

    def took(call: Callable[[], object]) -> float:
        begun = time.thread_time()
        call()
        return time.thread_time() - begun

    # Far below a millisecond of this thread's time; walking the tree would take longer.
    assert took(lambda: engine.advance(result.action)) < 0.002
    assert took(engine.clear) < 0.002
