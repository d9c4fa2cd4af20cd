"""Measurements of the suite `memory`, each in a separate process."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import ModelSpec

if TYPE_CHECKING or __package__:
    from . import fresh
    from .modelled import ModelledDevice
else:  # run as a script, also by an installed suite
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import fresh
    from modelled import ModelledDevice

#: Connect Four: 5 wins. An uncapped search proves it with about 380,000 nodes.
WON = ["5", "4", "4", "1", "3", "7", "4", "4", "6", "6", "4", "5"]
LEAST_CAP = 8 << 20
ENOUGH = 8 << 30


def visits(game: str, simulations: int) -> dict[str, Any]:
    """Search the initial position. Return resident bytes before and after, visits and nodes."""
    state = pyengine.load_game(game).new_initial_state()
    with pyengine.Engine(state.game, "uniform", threads=1, solver=False) as engine:
        engine.search(state, simulations=1)  # excludes the library's own memory
    fresh.give_back()
    before = fresh.resident()
    config = pyengine.SearchConfig(threads=1, solver=False, cache_entries=0, memory_limit=ENOUGH)
    with pyengine.Engine(state.game, "uniform", config=config) as engine:
        result = engine.search(state, simulations=simulations)
        after = fresh.resident()
        stats = engine.stats()
    return {
        "before": before,
        "after": after,
        "visits": int(result.visits.sum()),
        "nodes": stats["nodes"],
        "bytes": stats["bytes"],
    }


def cap(game: str, evaluator: str, cap: int, quick: bool) -> dict[str, Any]:
    """Search far beyond the cap. Return the resident memory before and its peak."""
    state = pyengine.load_game(game).new_initial_state()
    subject: Any = evaluator
    if evaluator == "device":
        spec = ModelSpec.alphago_zero(state.game)
        subject = ModelledDevice(0.0, 0.0, buckets=False, spec=spec)
    with pyengine.Engine(state.game, subject) as engine:
        engine.search(state, simulations=16)
    fresh.give_back()
    before = fresh.resident()
    fresh.forget_peak()
    with pyengine.Engine(state.game, subject, memory_limit=cap, batch_size=64) as engine:
        result, simulations = _search_until_full(engine, state, cap // 256, quick)
        stats = engine.stats()
        peak = fresh.peak_resident()
    return {
        "before": before,
        "peak": peak,
        "visits": int(result.visits.sum()),
        "simulations": simulations,
        "nodes": stats["nodes"],
        "full": not quick,
    }


def _search_until_full(
    engine: pyengine.Engine, state: pyengine.State, step: int, quick: bool
) -> tuple[pyengine.SearchResult, int]:
    """Search in steps until memory is full, then for three times as long."""
    simulations, nodes, beyond = 0, 0, 0
    while True:
        result = engine.search(state, simulations=step)
        simulations += result.simulations
        grown = engine.stats()["nodes"] - nodes
        nodes += grown
        if grown < step // 100:
            beyond += 1
        if quick or beyond > 3:
            return result, simulations


def improves(quick: bool, evaluator: str = "uniform") -> dict[str, Any]:
    """Search a won position under the smallest memory cap, far past the point where it is full.

    Returns the visits at which memory was full and the win was found (or None), and the value at
    the first of these points and at the end.
    """
    state = pyengine.load_game("connect_four").new_initial_state()
    for move in WON:
        state.apply_action(state.string_to_action(move))
    proves = (
        evaluator == "uniform"
    )  # playouts show a win in the value, and would prove it too early
    config = pyengine.SearchConfig(
        threads=1, memory_limit=LEAST_CAP, cache_entries=0, solver=proves
    )
    step = 10_000
    most = (200_000 if quick else 2_000_000) if proves else 1_500_000
    full_at, found_at, nodes, value_when_full = None, None, 0, 0.0
    with pyengine.Engine(state.game, evaluator, config=config) as engine:
        for visits in range(step, most + 1, step):
            result = engine.search(state, simulations=step)
            if result.proven == 1:
                found_at = visits
                break
            grown = engine.stats()["nodes"] - nodes
            nodes += grown
            if full_at is None and grown < step // 10:
                full_at, value_when_full = visits, result.value
    return {
        "full_at": full_at,
        "found_at": found_at,
        "found_when_full": found_at is not None and full_at is None,
        "value_when_full": value_when_full,
        "value": result.value,
    }


def flat(game: str, searches: int) -> dict[str, Any]:
    """Search varied positions with a reset before each. Return the resident bytes along the way."""
    states = []
    state = pyengine.load_game(game).new_initial_state()
    for _ in range(10):
        states.append(state.clone())
        actions = state.legal_actions()
        state.apply_action(actions[len(actions) // 3])
    first = wrong = 0
    with pyengine.Engine(state.game, "uniform", threads=2) as engine:
        for number in range(searches):
            simulations = 100 + 400 * (number % 7)
            engine.clear()
            result = engine.search(states[number % len(states)], simulations=simulations)
            wrong += int(result.visits.sum()) != result.simulations
            if number == searches // 10:
                first = _settled(engine)
        last = _settled(engine)
    return {"first": first, "last": last, "wrong": wrong}


def _settled(engine: pyengine.Engine) -> int:
    """Return the resident bytes after the background thread has freed the last tree."""
    engine.clear()
    time.sleep(0.2)
    return fresh.resident()


if __name__ == "__main__":
    fresh.answer({"visits": visits, "cap": cap, "improves": improves, "flat": flat})
