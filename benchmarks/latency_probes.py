"""Measurements of the suite `latency`, each in a separate process."""

from __future__ import annotations

import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine

if TYPE_CHECKING or __package__:
    from . import fresh
    from .modelled import ModelledDevice
else:  # run as a script, also by an installed suite
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import fresh
    from modelled import ModelledDevice

MEMORY = 4 << 30
#: Seconds until a search ends by itself if stop() has no effect. Its reason is then not "stopped".
PATIENCE = 10.0


def large(call: str, nodes: int) -> dict[str, Any]:
    """Return how long a call blocks on a tree of this size, and the time of the next search."""
    state = pyengine.load_game("connect_four").new_initial_state()
    config = pyengine.SearchConfig(threads=1, memory_limit=MEMORY, cache_entries=0, solver=False)
    engine = pyengine.Engine(state.game, "uniform", config=config)
    result = engine.search(state, simulations=nodes)
    held = engine.stats()["nodes"]
    calls: dict[str, Callable[[], None]] = {
        "advance": lambda: engine.advance(result.action),
        "clear": engine.clear,
        "close": engine.close,
    }
    milliseconds = 1e3 * _seconds_of(calls[call])
    if call == "close":
        engine = pyengine.Engine(state.game, "uniform", config=config)
    if call == "advance":
        state.apply_action(result.action)
    following = 1e3 * _seconds_of(lambda: engine.search(state, simulations=1))
    return {"nodes": held, "ms": milliseconds, "next_ms": following}


def _seconds_of(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _engine(game: str, evaluator: str) -> pyengine.Engine:
    subject: Any = ModelledDevice() if evaluator == "device" else evaluator
    batch = 256 if evaluator == "device" else 8
    return pyengine.Engine(game, subject, batch_size=batch, memory_limit=MEMORY)


def stop(game: str, evaluator: str, trials: int) -> dict[str, Any]:
    """Return milliseconds from stop() on another thread to the end of the search."""
    times: list[float] = []
    stopped = 0
    with _engine(game, evaluator) as engine:
        state = engine.game.new_initial_state()
        for trial in range(trials):
            called: list[float] = []

            def call(called: list[float] = called) -> None:
                called.append(time.perf_counter())
                engine.stop()

            timer = threading.Timer(0.05 + 0.0037 * trial, call)
            timer.start()
            result = engine.search(state, seconds=PATIENCE)
            ended = time.perf_counter()
            timer.join()
            times.append(1e3 * (ended - called[0]))
            stopped += result.stop_reason == "stopped"
    return {"ms": times, "stopped": stopped}


def interrupt(game: str, evaluator: str, trials: int) -> dict[str, Any]:
    """Return milliseconds from SIGINT to the KeyboardInterrupt that search() raises."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore SIGINT
    times: list[float] = []
    with _engine(game, evaluator) as engine:
        state = engine.game.new_initial_state()
        for trial in range(trials):
            sent: list[float] = []

            def send(sent: list[float] = sent) -> None:
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(0.05 + 0.0037 * trial, send)
            timer.start()
            try:
                engine.search(state, seconds=PATIENCE)
            except KeyboardInterrupt:
                times.append(1e3 * (time.perf_counter() - sent[0]))
            timer.join()
    return {"ms": times, "stopped": len(times)}


def smallest(game: str, calls: int) -> dict[str, Any]:
    """Return microseconds per search() with one simulation, as medians of groups of 100 calls."""
    wrong = 0
    times: dict[bool, list[float]] = {True: [], False: []}
    with pyengine.Engine(game, "uniform", solver=False) as engine:
        state = engine.game.new_initial_state()
        for reuse, found in times.items():
            for _ in range(calls):
                begun = time.perf_counter()
                result = engine.search(state, simulations=1, reuse_tree=reuse)
                found.append(time.perf_counter() - begun)
                wrong += result.simulations != 1
        moves = _play(engine)
    return {
        "us": _medians(times[True]),
        "afresh_us": _medians(times[False]),
        "many_us": 1e6 * statistics.median(moves),
        "wrong": wrong,
    }


def _medians(times: list[float]) -> list[float]:
    """Return the medians of groups of 100 consecutive calls, which share any disturbance."""
    return [1e6 * statistics.median(times[i : i + 100]) for i in range(0, len(times), 100)]


def _play(engine: pyengine.Engine) -> list[float]:
    """Play a game with one simulation per move. Return the seconds of each search and advance."""
    state = engine.game.new_initial_state()
    times = []
    while not state.is_terminal() and len(times) < 100:
        begun = time.perf_counter()
        action = engine.search(state, simulations=1).action
        engine.advance(action)
        times.append(time.perf_counter() - begun)
        state.apply_action(action)
    return times


if __name__ == "__main__":
    fresh.answer({"large": large, "stop": stop, "interrupt": interrupt, "smallest": smallest})
