"""Searches from Python: budgets, reuse, noise, temperature, proofs, progress, many states."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import Engine, SearchResult
from third_party_networks import NETWORKS
from toy_games import Pairs, ToyGame
from zero_network import zero_network


def connect_four(evaluator: Any = "rollout", **settings: Any) -> tuple[Engine, Any]:
    engine = Engine("connect_four", evaluator, **settings)
    return engine, engine.game.new_initial_state()


def test_a_tree_continues_if_state_and_history_equal_the_root() -> None:
    engine, state = connect_four(simulations=100, solver=False)
    assert engine.search(state).visits.sum() == 100
    result = engine.search(state.clone())
    assert (result.visits.sum(), result.simulations, result.reused) == (200, 100, 100)
    # The same board with another history is another state.
    one = engine.game.new_initial_state([0, 1, 2])
    other = engine.game.new_initial_state([2, 1, 0])
    engine.search(one)
    assert engine.search(other).visits.sum() == 100
    again = engine.search(other, reuse_tree=False)
    assert (again.visits.sum(), again.reused) == (100, 0)
    engine.clear()
    assert engine.search(other).visits.sum() == 100


def test_root_values_have_the_right_sign_if_a_player_moves_twice() -> None:
    game = ToyGame(Pairs)
    for proven, moves, move in ((None, [0], 5), (1, [0, 4, 8, 1, 10, 5, 9], 2)):
        engine = Engine(game, "rollout", solver=proven == 1, simulations=200, threads=1)
        state = game.new_initial_state()
        for made in moves:
            state.apply_action(made)
        engine.search(state)
        mover = state.current_player()
        state.apply_action(move)
        engine.advance(move)
        assert state.current_player() == mover  # has the second of two moves
        result = engine.search(state)
        root = result.tree()
        assert result.reused > 0 or proven
        if proven is None:
            assert abs(result.value) > 1e-3
            assert root.q == pytest.approx(-result.value, abs=1e-6)
        else:
            assert (result.proven, root.proven) == (1, -1)


def test_evaluations_are_the_rows_evaluated_in_this_call() -> None:
    rows: list[int] = []
    settings: Any = {"simulations": 150, "symmetry": "none", "cache_entries": 0}
    engine, state = connect_four(zero_network(rows=rows), **settings)
    for _ in range(2):
        rows.clear()
        result = engine.search(state)
        assert result.evaluations == sum(rows)
    stats = engine.stats()
    assert stats["batches"] > 0
    assert stats["mean_batch_fill"] == pytest.approx(stats["evaluations"] / stats["batches"])
    assert stats["simulations"] == 300
    assert max(rows) <= 8


def test_the_cache_saves_evaluations_but_not_simulations() -> None:
    engine, state = connect_four(zero_network(), simulations=200, symmetry="none", threads=1)
    first = engine.search(state)
    second = engine.search(state, reuse_tree=False)
    assert second.visits.tolist() == first.visits.tolist()
    assert second.evaluations < first.evaluations / 4
    assert engine.stats()["cache_hits"] > 100


def test_a_call_may_use_larger_batches_than_the_engine(
    shared: Callable[..., Path],
) -> None:
    spec = NETWORKS["gomoku6x6_4"].spec
    path = shared("nets", "gomoku6x6_4.onnx")
    evaluator = pyengine.OnnxEvaluator(path, spec, providers=["cpu"])
    engine = Engine(NETWORKS["gomoku6x6_4"].game, evaluator, batch_size=2, threads=1)
    state = engine.game.new_initial_state()
    for settings in ({"batch_size": 32}, {"symmetry": "average"}, {"threads": 4}):
        result = engine.search(state, simulations=100, reuse_tree=False, **settings)
        assert result.visits.sum() == 100


@pytest.mark.parametrize("algorithm", ["puct", "gumbel", "uct", "flat_ucb"])
def test_every_call_accepts_every_algorithm(algorithm: str) -> None:
    engine, state = connect_four(algorithm=algorithm, solver=False, threads=2)
    states = [engine.game.new_initial_state([a]) for a in range(7)]
    assert [r.visits.sum() for r in engine.search_many(states, simulations=64)] == [64] * 7
    *_, last = engine.analyze(state, every=0.01, simulations=2000)
    assert last.visits.sum() == 2000
    assert engine.search(state, seconds=0.02).stop_reason == "seconds"
    assert engine.search(state, seconds=60, simulations=50).stop_reason == "simulations"
    pairs = ToyGame(Pairs)  # players move twice in a row
    result = pyengine.search(
        pairs.new_initial_state(), evaluator="rollout", game=pairs, algorithm=algorithm,
        solver=False, simulations=50,
    )  # fmt: skip
    assert result.visits.sum() == 50


def test_noise_and_choice_follow_the_seed() -> None:
    def run(seed: int) -> tuple[list[float], int]:
        engine, state = connect_four("uniform", simulations=50, seed=seed, threads=1)
        result = engine.search(state, dirichlet_fraction=0.5, temperature=2.0)
        return result.priors.tolist(), result.action

    assert run(1) == run(1)
    assert run(1)[0] != run(2)[0]
    assert len({run(seed)[1] for seed in range(20)}) > 1


def test_temperature_samples_by_the_visits() -> None:
    engine, state = connect_four("rollout", simulations=400, threads=1, solver=False)
    result = engine.search(state)
    assert result.visits[result.actions.tolist().index(result.action)] == result.visits.max()
    drawn = [engine.search(state, temperature=1.0, simulations=1) for _ in range(200)]
    counts = np.bincount([r.action for r in drawn], minlength=7) / 200
    # Each search adds a visit, so the sampled policy changes over time.
    policy = np.mean([r.policy for r in drawn], axis=0)
    np.testing.assert_allclose(counts, policy, atol=0.12)
    cold = [engine.search(state, temperature=0.01, simulations=1) for _ in range(5)]
    assert {r.action for r in cold} == {int(np.argmax(cold[0].visits))}


def test_a_win_in_one_is_proven_and_played_whatever_the_temperature() -> None:
    engine = Engine("connect_four", "uniform", simulations=500)
    state = engine.game.new_initial_state([3, 0, 3, 0, 3, 0])
    for temperature in (0.0, 5.0):
        result = engine.search(state, temperature=temperature, reuse_tree=False)
        assert result.action == 3
        assert result.proven == 1
        assert result.value == 1.0
        assert result.stop_reason == "proven"
        assert result.simulations < 500


def test_progress_is_reported_ten_times_a_second_and_false_stops() -> None:
    engine, state = connect_four(zero_network(seconds=0.001), threads=2)
    seen: list[SearchResult] = []
    engine.search(state, seconds=0.45, on_progress=seen.append)
    assert 2 <= len(seen) <= 5
    counts = [result.visits.sum() for result in seen]
    assert counts == sorted(counts)
    assert all(len(result.visits) == 7 and abs(result.value) <= 1 for result in seen)
    seen.clear()
    result = engine.search(state, seconds=30, on_progress=lambda now: seen.append(now) or False)
    assert result.stop_reason == "stopped"
    assert result.seconds < 1
    assert len(seen) == 1


def test_an_exception_of_on_progress_propagates_and_the_engine_stays_usable() -> None:
    engine, state = connect_four("uniform", solver=False)

    def fail(result: SearchResult) -> None:
        raise LookupError("no more, please")

    with pytest.raises(LookupError, match="no more"):
        engine.search(state, seconds=30, on_progress=fail)
    assert engine.search(state, simulations=10).simulations == 10


def test_analyze_streams_results_and_ends_with_the_final_one() -> None:
    engine, state = connect_four(zero_network(seconds=0.001))
    results = list(engine.analyze(state, every=0.05, seconds=0.3))
    assert 2 <= len(results) <= 10
    assert results[-1].stop_reason == "seconds"
    counts = [result.visits.sum() for result in results]
    assert counts == sorted(counts)


def test_leaving_analyze_stops_the_search() -> None:
    engine, state = connect_four(zero_network(seconds=0.001))
    begun = time.perf_counter()
    for result in engine.analyze(state, every=0.02):
        if result.visits.sum() > 20:
            break
    assert time.perf_counter() - begun < 5
    assert engine.search(state, simulations=10).simulations == 10  # not "already searching"


def test_analyze_raises_what_the_search_raises() -> None:
    engine, state = connect_four("uniform")
    with pytest.raises(pyengine.ConfigError, match="threads"):
        engine.analyze(state, threads=-1)
    over = engine.game.new_initial_state([0, 1, 0, 1, 0, 1, 0])
    with pytest.raises(pyengine.ConfigError, match="terminal"):
        list(engine.analyze(over))
    with pytest.raises(pyengine.ConfigError, match="every"):
        engine.analyze(state, every=0)


def test_search_many_gives_each_state_its_budget_in_shared_batches() -> None:
    engine, _ = connect_four(zero_network(), threads=4, batch_size=16, symmetry="none")
    states = [engine.game.new_initial_state([a, b]) for a in range(7) for b in range(7)]
    results = engine.search_many(states, simulations=40, solver=False)
    assert [result.visits.sum() for result in results] == [40] * 49
    assert engine.stats()["mean_batch_fill"] > 8
    assert all(result.state == state for result, state in zip(results, states, strict=True))
    assert engine.search_many([], simulations=10) == []


def test_search_many_leaves_the_tree_of_the_engine() -> None:
    engine, state = connect_four(simulations=50, solver=False)
    engine.search(state)
    engine.search_many([state, engine.game.new_initial_state([1])])
    assert engine.search(state).visits.sum() == 100
