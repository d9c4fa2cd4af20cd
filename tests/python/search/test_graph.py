"""The promises of graph=True that callers see."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pyengine
from interrupted import AlarmError, alarm
from pyengine.selfplay import SelfPlayer
from toy_games import ToyGame, ToyState

GRAPH: dict[str, Any] = {"graph": True, "cache_entries": 0, "threads": 1}
SMALL_GAMES = ["tic_tac_toe", "connect_four", "othello(board_size=4)", "go(board_size=5)"]


def facts(result: pyengine.SearchResult) -> dict[str, Any]:
    """Return everything that does not depend on time."""
    values = {k: v for k, v in result.to_dict().items() if k != "seconds"}
    return {**values, "tree": result.tree(99)}


def positions_in(records: Any, state: Any) -> set[tuple[int, str]]:
    """Play the moves of a result's nodes and return the positions, with their plies."""
    states = [state]
    for record in records[1:]:
        states.append(states[record["parent"]].clone())
        states[-1].apply_action(int(record["action"]))
    return {(len(s.history()), str(s)) for s in states}


@pytest.mark.parametrize("name", SMALL_GAMES[:3])
def test_nodes_are_the_distinct_positions(name: str) -> None:
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, "uniform", **GRAPH, solver=False) as engine:
        result = engine.search(state, simulations=2000)
    positions = positions_in(result.tree_nodes, state)
    assert result.nodes == len(positions)
    assert len(result.tree_nodes) - (result.tree_nodes["same"] >= 0).sum() == len(positions)


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_a_position_has_a_visit_for_itself_and_one_for_each_of_a_move(name: str) -> None:
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, "uniform", **GRAPH, solver=False) as engine:
        result = engine.search(state, simulations=3000)
    nodes = result.tree_nodes
    assert result.visits.sum() == result.simulations == 3000
    visits = 1 + np.bincount(nodes["parent"][1:], nodes["visits"][1:], len(nodes))
    owner = np.where(nodes["same"] >= 0, nodes["same"], np.arange(len(nodes)))
    goes_on = nodes["to_move"] >= 0
    assert (nodes["visits"] <= visits[owner])[goes_on].all()
    # The children of an unshared position account for its visits exactly.
    alone = goes_on & ~np.isin(np.arange(len(nodes)), owner[nodes["same"] >= 0])
    alone &= nodes["same"] < 0
    assert (nodes["visits"] == visits)[alone].all()


def test_deterministic_results_are_equal_for_any_number_of_threads_after_moves() -> None:
    def sequence(threads: int) -> list[dict[str, Any]]:
        settings = {**GRAPH, "threads": threads, "deterministic": True, "batch_size": 4}
        state = pyengine.load_game("connect_four").new_initial_state()
        results = []
        with pyengine.Engine(state.game, "uniform", **settings) as engine:
            for action in (3, 2, 4):
                results.append(facts(engine.search(state, simulations=600)))
                state.apply_action(action)
                engine.advance(action)
        return results

    assert sequence(1) == sequence(2) == sequence(4)


def test_after_a_move_the_graph_has_what_the_move_leads_to() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    settings = {**GRAPH, "deterministic": True, "solver": False}
    with pyengine.Engine(state.game, "uniform", **settings) as engine:
        for action in (3, 3, 2):  # the position is reached in many ways
            before = engine.search(state, simulations=1000)
            index = before.actions.tolist().index(action)
            state.apply_action(action)
            engine.advance(action)
            after = engine.search(state, simulations=1)
            # Other moves may have taught the position more than this one knew.
            assert after.reused >= before.visits[index] - 1
            assert after.visits.sum() == after.reused + 1
            assert after.nodes == len(positions_in(after.tree_nodes, state))
            assert after.nodes < before.nodes
            assert engine.stats()["nodes"] == after.nodes


def test_moves_to_the_same_position_share_its_node_and_value() -> None:
    class Chain(ToyState):  # each of three moves leads to the same position
        def is_terminal(self) -> bool:
            return len(self.moves) == 5

        def transposition_key(self) -> int:
            return 7

    with pyengine.Engine(ToyGame(Chain), "uniform", **GRAPH, solver=False) as engine:
        result = engine.search(Chain(), simulations=3000)
    assert result.nodes == 1 + 5
    assert np.ptp(result.q) == 0
    assert result.visits.min() > 900


@pytest.mark.parametrize(
    ("rows", "columns", "superko", "moves"),
    [(2, 2, "positional", [2, 1, 0, 3, 2, 0]), (1, 4, "situational", [3, 0, 2, 1])],
)
def test_under_superko_the_root_has_the_moves_of_its_own_path(
    rows: int, columns: int, superko: str, moves: list[int]
) -> None:
    game = pyengine.load_game("go", rows=rows, columns=columns, superko=superko)
    with pyengine.Engine(game, "uniform", **GRAPH, deterministic=True) as engine:
        state = game.new_initial_state()
        for move in moves:
            engine.search(state, simulations=3000)
            state.apply_action(move)
            engine.advance(move)
        result = engine.search(state, simulations=3000)
    assert result.actions.tolist() == state.legal_actions()
    assert result.tree(99).visits == sum(result.visits) + 1
    for line in result.lines():
        game.new_initial_state([*moves, *line])


def test_under_superko_a_position_is_proven_when_it_becomes_the_root() -> None:
    game = pyengine.load_game("go", rows=2, columns=2, max_game_length=7, komi=0.5)
    with pyengine.Engine(game, "uniform", **GRAPH, deterministic=True) as engine:
        state = game.new_initial_state()
        for move in [0, 3, 1, 2, 0, 4]:
            engine.search(state, simulations=2000)
            state.apply_action(move)
            engine.advance(move)
        result = engine.search(state, simulations=2000)
    assert (result.proven, result.stop_reason) == (1, "proven")


def test_many_searches_equal_single_ones() -> None:
    game = pyengine.load_game("tic_tac_toe")
    states = [game.new_initial_state() for _ in range(3)]
    for action, state in enumerate(states):
        state.apply_action(action)
    settings = {**GRAPH, "deterministic": True, "symmetry": "none", "solver": False}
    with pyengine.Engine(game, "uniform", **settings) as engine:
        together = engine.search_many(states, simulations=300)
    for state, result in zip(states, together, strict=True):
        with pyengine.Engine(game, "uniform", **settings) as engine:
            alone = engine.search(state, simulations=300)
        assert (result.visits == alone.visits).all()
        assert result.nodes == alone.nodes


@pytest.mark.parametrize("threads", [1, 4])
def test_a_search_goes_on_after_it_was_stopped_or_interrupted(threads: int) -> None:
    game = pyengine.load_game("connect_four")
    state = game.new_initial_state()
    settings = {**GRAPH, "threads": threads, "batch_size": 4}
    with pyengine.Engine(game, "uniform", **settings) as engine:
        first = engine.search(state, simulations=10**8, on_progress=lambda _: False)
        assert first.stop_reason == "stopped"
        with alarm(0.05), pytest.raises(AlarmError):
            engine.search(state, simulations=10**8)
        timer = threading.Timer(0.05, engine.stop)
        timer.start()
        assert engine.search(state, simulations=10**8).stop_reason == "stopped"
        timer.join()
        last = engine.search(state, simulations=100)
        assert last.visits.sum() == last.reused + 100
        assert last.reused > first.simulations


def test_analyze_reports_growing_visits() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    with pyengine.Engine(state.game, "uniform", **GRAPH) as engine:
        visits = []
        for snapshot in engine.analyze(state, every=0.01):
            visits.append(int(snapshot.visits.sum()))
            if len(visits) == 3:
                break
    assert visits == sorted(visits)
    assert visits[0] < visits[-1]


def test_self_play_searches_graphs() -> None:
    search = pyengine.SearchConfig(**GRAPH, simulations=30, solver=False, memory_limit=64 << 20)
    config = pyengine.SelfPlayConfig(search=search, concurrent_games=4, resign_threshold=None)
    games: list[Any] = []
    player = SelfPlayer("connect_four", "uniform", config)
    player.run(4, games.extend)
    for finished in [*games, *player.take()]:
        for targets in finished.visits:
            assert targets.sum() >= 30
